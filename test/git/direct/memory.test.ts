import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import {
  isBusy,
  openMemory,
  openObjects,
  type Memory,
  type Objects,
} from '../../../functions/git/direct/memory.ts'
import { makeObject } from '../../../functions/git/objects/object.ts'
import { createPace } from '../../../functions/git/objects/pace.ts'

const MIB = 1024 * 1024
const PACE = createPace(undefined)

/** The objects of a session of this namespace. */
function open(memory: Memory, owner = 'me', namespace = 'shop'): Objects {
  return openObjects(memory, { owner, namespace, take: memory.shareOf(namespace).take })
}

t.test('commits and trees are remembered for sessions of the same owner, blobs for their own', async (t) => {
  const memory = openMemory()
  const [one, other] = [open(memory), open(memory)]
  const tree = makeObject('tree', Buffer.from('tree'))
  const commit = makeObject('commit', Buffer.from('commit'))
  const blob = makeObject('blob', Buffer.from('blob'))
  await one.keep([tree, commit, blob], PACE)
  t.match(other.get(tree.id), tree)
  t.match(other.get(commit.id), commit)
  t.equal(other.get(blob.id), undefined)
  t.match(one.get(blob.id), blob)
  const stranger = open(memory, 'you')
  t.equal(stranger.get(tree.id), undefined)
  t.equal(stranger.get(commit.id), undefined)
  one.close()
  t.equal(one.get(blob.id), undefined)
  t.match(one.get(tree.id), tree)
})

t.test('a session has its objects, although the memory forgets the oldest at 24 MiB', async (t) => {
  const memory = openMemory()
  const session = open(memory)
  const trees = Array.from({ length: 30 }, () => makeObject('tree', randomBytes(MIB)))
  await session.keep(trees, PACE)
  t.equal(memory.of('me', 'shop').get(trees[0]?.id ?? ''), undefined)
  t.match(memory.of('me', 'shop').get(trees[29]?.id ?? ''), { body: trees[29]?.body })
  t.ok(trees.every(({ id }) => session.get(id) !== undefined))
})

t.test(
  'what is larger than a directory may be is not remembered, and nothing is forgotten for it',
  async (t) => {
    const memory = openMemory()
    const small = makeObject('tree', randomBytes(2 * MIB))
    const large = makeObject('tree', randomBytes(23 * MIB))
    memory.of('me', 'shop').keep([small, large])
    const known = [small, large].map(({ id }) => memory.of('me', 'shop').get(id) !== undefined)
    t.same(known, [true, false])
  },
)

t.test('what a session has found in the memory it has until its end, and it counts', async (t) => {
  const memory = openMemory()
  const trees = Array.from({ length: 20 }, () => makeObject('tree', randomBytes(MIB)))
  memory.of('me', 'shop').keep(trees)
  const session = open(memory)
  for (const { id } of trees) t.ok(session.get(id))
  memory.of('you', 'shop').keep(Array.from({ length: 24 }, () => makeObject('tree', randomBytes(MIB))))
  t.equal(memory.of('me', 'shop').get(trees[0]?.id ?? ''), undefined, 'the memory has forgotten it')
  for (const { id, body } of trees) t.ok(session.get(id)?.body.equals(body))
  t.notOk(takes(memory, 'shop', 90 * MIB), 'of 128 MiB a namespace has no more than it leaves')
  session.close()
  t.ok(takes(memory, 'shop', 90 * MIB))
  t.equal(session.get(trees[0]?.id ?? ''), undefined)
})

t.test('an address of any length takes no more of the memory', async (t) => {
  const memory = openMemory()
  const address = 'a'.repeat(2_000)
  const trees = Array.from({ length: 30_000 }, (_, i) => makeObject('tree', Buffer.from(`${i}`)))
  open(memory, address).remember(trees)
  t.match(open(memory, address).get(trees[0]?.id ?? ''), trees[0])
  t.equal(open(memory, `${address}b`).get(trees[0]?.id ?? ''), undefined)
})

t.test('a small part of a large buffer is copied, so that the rest is free', async (t) => {
  const memory = openMemory()
  const large = Buffer.allocUnsafeSlow(MIB)
  const tree = makeObject('tree', large.subarray(0, 100))
  memory.of('me', 'shop').keep([tree])
  t.equal(memory.of('me', 'shop').get(tree.id)?.body.buffer.byteLength, 100)
  t.ok(memory.of('me', 'shop').get(tree.id)?.body.equals(tree.body))
})

/** Takes bytes, and says whether there was room for them. */
function takes(memory: Memory, namespace: string, bytes: number): boolean {
  try {
    memory.shareOf(namespace).take(bytes)
    return true
  } catch (error) {
    if (!isBusy(error)) throw error
    return false
  }
}

t.test('all sessions share 128 MiB, and a namespace gets no more than it leaves', async (t) => {
  const memory = openMemory()
  t.ok(takes(memory, 'shop', 60 * MIB))
  t.notOk(takes(memory, 'shop', 10 * MIB))
  t.ok(takes(memory, 'other', 32 * MIB))
  t.notOk(takes(memory, 'other', 32 * MIB))
  t.ok(takes(memory, 'third', 10 * MIB))
  t.notOk(takes(memory, 'fourth', 11 * MIB), 'the last 16 MiB are for small ones')
  for (let index = 0; index < 10; index += 1) t.ok(takes(memory, `small-${index}`, MIB))
  t.notOk(isBusy(new Error('other')))
})

t.test('what a session has read comes back when it is closed', async (t) => {
  const memory = openMemory()
  const session = open(memory)
  await session.keep([makeObject('tree', Buffer.alloc(60 * MIB))], PACE)
  t.notOk(takes(memory, 'shop', 60 * MIB))
  session.close()
  t.ok(takes(memory, 'shop', 110 * MIB))
})

t.test('small objects count for what they take', async (t) => {
  const memory = openMemory()
  const trees = Array.from({ length: 65_536 }, (_, i) => makeObject('tree', Buffer.from(String(i))))
  await open(memory).keep(trees, PACE)
  await t.rejects(open(memory).keep([...trees, ...trees], PACE), { name: 'Busy' })
  await t.rejects(open(memory).keep([...trees, ...trees, ...trees], PACE), { name: 'Busy' })
})

t.test('of one namespace, one session at a time holds the thread', async (t) => {
  const memory = openMemory()
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const began: string[] = []
  const work = ['shop', 'shop', 'other'].map((namespace) =>
    memory.shareOf(namespace).inTurn(async () => {
      began.push(namespace)
      await promise
    }),
  )
  await nextTurn()
  t.same(began, ['shop', 'other'])
  resolve(undefined)
  await Promise.all(work)
  t.equal(began.length, 3)
})

t.test('the bound is one for all owners', async (t) => {
  const memory = openMemory()
  const trees = Array.from({ length: 20 }, () => makeObject('tree', randomBytes(MIB)))
  memory.of('me', 'shop').keep(trees)
  memory.of('you', 'shop').keep(trees)
  t.equal(memory.of('me', 'shop').get(trees[0]?.id ?? ''), undefined)
  t.ok(memory.of('you', 'shop').get(trees[0]?.id ?? ''))
})

t.test('who has the most of the remembered objects loses its own, and others none', async (t) => {
  const memory = openMemory()
  const own = Array.from({ length: 5 }, () => makeObject('tree', randomBytes(MIB)))
  open(memory, 'me', 'quiet').remember(own)
  for (const owner of ['one', 'two', 'three']) {
    const trees = Array.from({ length: 22 }, () => makeObject('tree', randomBytes(MIB)))
    await open(memory, owner, 'loud').keep(trees, PACE)
    t.match(memory.of(owner, 'loud').get(trees.at(-1)?.id ?? ''), trees.at(-1))
  }
  t.ok(own.every(({ id }) => memory.of('me', 'quiet').get(id) !== undefined))
})

t.test(
  'of long lists of refs a namespace reads 16 MiB at once, 1 MiB a second, and of what all share',
  async (t) => {
    let now = 0
    const memory = openMemory(() => now)
    const [one, other] = [memory.shareOf('one'), memory.shareOf('other')]
    t.ok(one.allowLong(16 * MIB))
    t.ok(one.allowLong(32 * MIB), 'of what all share')
    t.ok(memory.shareOf('one').allowLong(32 * MIB), 'whatever its session')
    t.notOk(one.allowLong(1))
    t.ok(other.allowLong(16 * MIB), 'its own is there for each other one')
    t.notOk(other.allowLong(1))
    now = 1_000
    t.ok(one.allowLong(MIB))
    t.ok(one.allowLong(15 * MIB), 'what all share comes back')
    t.notOk(other.allowLong(2 * MIB))
    t.ok(other.allowLong(MIB))
    t.ok(memory.shareOf('third').allowLong(16 * MIB))
  },
)
