import t from 'tap'
import type { GitObject, ObjectId } from '../../../functions/git/objects/object.ts'
import { readPack } from '../../../functions/git/objects/pack-reader.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { randomHistory, streamOf } from './histories.ts'
import { entry, options, packOf } from './pack-bytes.ts'
import { createRandom } from './random.ts'
import { createStore } from './store.ts'

const random = createRandom()
const store = createStore(t.testdir())
const histories = Array.from({ length: 30 }, () => randomHistory(random, 60))
// A file of many versions and some size makes long chains of deltas.
const text = Array.from({ length: 1000 }, (_, i) => `line ${i} ${random.int(1e9)}`)
const versions = Array.from({ length: 120 }, (_, i) => {
  text[random.int(text.length)] = `version ${i}`
  return { path: `big/${i % 2}`, mode: '100644', content: Buffer.from(text.join('\n')) }
})
const author = { name: 'Ada', email: 'ada@example.com' }
const commits = versions.map((file) => ({ files: [file], message: 'Big\n', author, date: new Date(0) }))
store.git(['fast-import', '--quiet', '--done'], streamOf([...histories, { base: new Map(), commits }]))
store.git(['tag', '-a', '-m', 'A tag', 'v1', 'refs/new'])
const objects = store.objects()
const names = [...objects.keys()].join('\n')

function textOf(objects: Iterable<GitObject>): readonly string[] {
  return Array.from(objects, ({ kind, id, body }) => `${id} ${kind} ${body.toString('hex')}`).toSorted()
}

const variants = {
  'deltas by offset': ['--delta-base-offset', '--window=50', '--depth=200'],
  'deltas by name': ['--window=50', '--depth=200'],
  'whole objects': ['--window=0'],
}
for (const [title, args] of Object.entries(variants)) {
  t.test(`a pack of git with ${title} is read (seed ${random.seed})`, async (t) => {
    const pack = store.git(['pack-objects', '--stdout', '-q', '--no-reuse-delta', ...args], names)
    const read = await readPack(pack, options())
    t.same(textOf(read), textOf(objects.values()))
    t.same(new Set(read.map(({ kind }) => kind)), new Set(['commit', 'tree', 'blob', 'tag']))
  })
}

t.test('a thin pack is read with the objects that it builds on', async (t) => {
  const range = 'refs/new\n^refs/new~3\n'
  const pack = store.git(['pack-objects', '--stdout', '-q', '--thin', '--revs', '--no-reuse-delta'], range)
  const asked: ObjectId[] = []
  const base = (id: ObjectId) => {
    asked.push(id)
    return objects.get(id)
  }
  const read = await readPack(pack, { ...options(), base })
  t.same(textOf(read), textOf(read.map(({ id }) => objects.get(id)!)))
  t.ok(asked.length > 0)
  await t.rejects(readPack(pack, options()), { reason: 'ProviderUnavailable', message: /cannot be read/ })
})

t.test('a pack may come in pieces', async (t) => {
  const pack = store.git(['pack-objects', '--stdout', '-q'], names)
  async function* pieces() {
    for (let at = 0; at < pack.length; at += 1000) yield pack.subarray(at, at + 1000)
  }
  t.equal((await readPack(pieces(), options())).length, objects.size)
})

t.test('a pack without objects is one', async (t) => {
  t.same(await readPack(packOf([]), options()), [])
})

/** Milliseconds of CPU time between the turns that the event loop has while a pack is read. */
async function turnsDuring(pack: Buffer): Promise<readonly number[]> {
  const turns: number[] = []
  let last = cpuTime()
  let isRunning = true
  function turn() {
    const now = cpuTime()
    turns.push(now - last)
    last = now
    if (isRunning) setImmediate(turn)
  }
  setImmediate(turn)
  await readPack(pack, options())
  isRunning = false
  return turns
}

t.test('a pack leaves the event loop its turns', async (t) => {
  const many = await turnsDuring(
    packOf(Array.from({ length: 5000 }, (_, i) => entry(3, Buffer.from(`${i}`)))),
  )
  t.ok(many.length > 20, `${many.length} turns`)
  const large = await turnsDuring(packOf([entry(3, Buffer.alloc(16 * 1024 * 1024))]))
  for (const turns of [many, large]) t.ok(Math.max(...turns) < 1_000, `at most ${Math.max(...turns)} ms`)
})

t.test('a reader that is no longer waited for stops', async (t) => {
  const controller = new AbortController()
  const pack = packOf(Array.from({ length: 5000 }, (_, i) => entry(3, Buffer.from(`${i}`))))
  const reading = readPack(pack, { ...options(), signal: controller.signal })
  controller.abort(new Error('gone'))
  await t.rejects(reading, { message: 'gone' })
})
