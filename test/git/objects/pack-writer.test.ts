import t from 'tap'
import { encodeCommit } from '../../../functions/git/objects/commit-object.ts'
import { makeObject, type NewObject, type ObjectId } from '../../../functions/git/objects/object.ts'
import { readPack } from '../../../functions/git/objects/pack-reader.ts'
import { spliceAtOnce } from './splice-at-once.ts'
import { options, writtenPack } from './pack-bytes.ts'
import { createRandom } from './random.ts'
import { createStore } from './store.ts'

const random = createRandom()
const author = { name: 'Ada', email: 'ada@example.com' }

/** Commits that each write one of a thousand files, and everything that they need which was not there before. */
function stack(count: number, start: { readonly tree?: ObjectId; readonly parent?: ObjectId; read: Read }) {
  const objects = new Map<ObjectId, NewObject>()
  let root = start.tree
  let parent = start.parent
  for (let i = 0; i < count; i++) {
    const path = `deep/er/${random.int(1000)}.yaml`
    const files = [{ path, mode: '100644', content: Buffer.from(`${i}\n`) }]
    const spliced = spliceAtOnce((id) => objects.get(id)?.body ?? start.read(id), root, files)
    const parents = parent === undefined ? [] : [parent]
    const parts = { tree: spliced.root, parents, author, date: new Date(i * 1000), message: `${i}\n` }
    const commit = encodeCommit(parts)
    for (const object of [...spliced.objects, commit]) objects.set(object.id, object)
    root = spliced.root
    parent = commit.id
  }
  return { objects, tree: root!, parent: parent! }
}

type Read = (id: ObjectId) => Buffer | undefined

t.test(`git takes a pack, and a thin one on top of it (seed ${random.seed})`, async (t) => {
  const store = createStore(t.testdir())
  const first = stack(120, { read: () => undefined })
  store.git(['index-pack', '--stdin', '--strict'], await writtenPack([...first.objects.values()]))
  const read = (id: ObjectId) => first.objects.get(id)?.body
  const second = stack(120, { ...first, read })
  const thin = await writtenPack([...second.objects.values()])
  store.git(['index-pack', '--stdin', '--strict', '--fix-thin'], thin)
  store.git(['update-ref', 'refs/heads/main', second.parent])
  t.same(store.attempt(['fsck', '--strict', '--full']), { ok: true, output: '' })
  const all = new Set([...first.objects.keys(), ...second.objects.keys()])
  t.same(new Set(store.objects().keys()), all)
  t.equal(store.git(['rev-list', '--count', 'main']).toString(), '240\n')

  const bases = { ...options({ deltaDepth: 50 }), base: (id: ObjectId) => first.objects.get(id) }
  t.same(
    (await readPack(thin, bases)).map(({ id }) => id),
    [...second.objects.keys()],
  )
  const whole = [...second.objects.values()].map(({ kind, id, body }) => ({ kind, id, body }))
  const plain = await writtenPack(whole)
  t.ok(thin.length < plain.length / 3, `${thin.length} of ${plain.length} bytes`)

  const other = createStore(t.testdir({}), 'other')
  other.git(['unpack-objects', '-q'], await writtenPack([...first.objects.values()]))
  other.git(['unpack-objects', '-q', '--strict'], thin)
  t.equal(other.objects().size, all.size)
})

t.test(
  'two objects that are each a base of the other are no circle, and none is written twice',
  async (t) => {
    const lines = Array.from({ length: 1000 }, (_, i) => `${i}`)
    const one = makeObject('blob', Buffer.from(lines.join('\n')))
    const two = makeObject('blob', Buffer.from([...lines, 'more'].join('\n')))
    const objects = [
      { ...one, deltaBase: two },
      { ...two, deltaBase: one },
      { ...one, deltaBase: two },
    ]
    const pack = await writtenPack(objects)
    t.same(
      (await readPack(pack, options())).map(({ id }) => id),
      [one.id, two.id],
    )
  },
)

t.test('objects of all sizes are written, also in another thread', async (t) => {
  const sizes = [0, 1, 15, 16, 17, 2047, 2048, 65_536, 65_537, 300_000, 400_000]
  const objects = sizes.map((size) => makeObject('blob', random.bytes(size)))
  const large = objects.at(-1)!
  // What they have in common is more than one instruction copies, and exactly what one and two do.
  const ends = [large.body.length, 65_536, 131_072]
  const similar = ends.map((end) => Buffer.concat([large.body.subarray(0, end), Buffer.from('x')]))
  const all = [...objects, ...similar.map((body) => ({ ...makeObject('blob', body), deltaBase: large }))]
  const store = createStore(t.testdir())
  const pack = await writtenPack(all)
  store.git(['index-pack', '--stdin'], pack)
  t.same(new Set(store.objects().keys()), new Set(all.map(({ id }) => id)))
  t.same(
    (await readPack(pack, options())).map(({ id }) => id),
    all.map(({ id }) => id),
  )
  t.ok(pack.length < 840_000, `${pack.length}`)
})

t.test('a writer that is no longer waited for stops', async (t) => {
  const objects = Array.from({ length: 2000 }, (_, i) => makeObject('blob', Buffer.from(`${i}`)))
  await t.rejects(writtenPack(objects, AbortSignal.abort(new Error('gone'))), { message: 'gone' })
})
