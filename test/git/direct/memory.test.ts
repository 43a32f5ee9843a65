import { randomBytes } from 'node:crypto'
import t from 'tap'
import { isBusy, openMemory, openObjects } from '../../../functions/git/direct/memory.ts'
import { makeObject } from '../../../functions/git/objects/object.ts'
import { createPace } from '../../../functions/git/objects/pace.ts'

const MIB = 1024 * 1024
const PACE = createPace(undefined)

t.test('commits and trees are remembered for sessions of the same owner, blobs for their own', async (t) => {
  const memory = openMemory()
  const [one, other] = [openObjects(memory, 'me'), openObjects(memory, 'me')]
  const tree = makeObject('tree', Buffer.from('tree'))
  const commit = makeObject('commit', Buffer.from('commit'))
  const blob = makeObject('blob', Buffer.from('blob'))
  await one.keep([tree, commit, blob], PACE)
  t.match(other.get(tree.id), tree)
  t.match(other.get(commit.id), commit)
  t.equal(other.get(blob.id), undefined)
  t.match(one.get(blob.id), blob)
  const stranger = openObjects(memory, 'you')
  t.equal(stranger.get(tree.id), undefined)
  t.equal(stranger.get(commit.id), undefined)
  one.close()
  t.equal(one.get(blob.id), undefined)
  t.match(one.get(tree.id), tree)
})

t.test('a session has its objects, although the memory forgets the oldest at 24 MiB', async (t) => {
  const memory = openMemory()
  const session = openObjects(memory, 'me')
  const trees = Array.from({ length: 30 }, () => makeObject('tree', randomBytes(MIB)))
  await session.keep(trees, PACE)
  t.equal(memory.get('me', trees[0]?.id ?? ''), undefined)
  t.match(memory.get('me', trees[29]?.id ?? ''), { body: trees[29]?.body })
  t.ok(trees.every(({ id }) => session.get(id) !== undefined))
})

t.test('a small part of a large buffer is copied, so that the rest is free', async (t) => {
  const memory = openMemory()
  const large = Buffer.allocUnsafeSlow(MIB)
  const tree = makeObject('tree', large.subarray(0, 100))
  memory.keep('me', [tree])
  t.equal(memory.get('me', tree.id)?.body.buffer.byteLength, 100)
  t.ok(memory.get('me', tree.id)?.body.equals(tree.body))
})

t.test('all sessions share 128 MiB, which come back when one is closed', async (t) => {
  const memory = openMemory()
  const session = openObjects(memory, 'me')
  const half = makeObject('tree', Buffer.alloc(64 * MIB))
  await session.keep([half], PACE)
  await session.keep([half], PACE)
  const busy: unknown = await Promise.resolve()
    .then(() => session.keep([makeObject('tree', Buffer.from('x'))], PACE))
    .catch((error: unknown) => error)
  t.ok(isBusy(busy))
  t.notOk(isBusy(new Error('other')))
  session.close()
  memory.take(128 * MIB)()
})

t.test('the bound is one for all owners', async (t) => {
  const memory = openMemory()
  const trees = Array.from({ length: 20 }, () => makeObject('tree', randomBytes(MIB)))
  memory.keep('me', trees)
  memory.keep('you', trees)
  t.equal(memory.get('me', trees[0]?.id ?? ''), undefined)
  t.ok(memory.get('you', trees[0]?.id ?? ''))
})
