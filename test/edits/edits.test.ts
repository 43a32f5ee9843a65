import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { editText, YAML_AT_ONCE, type TextEdit } from '../../functions/domain/edit/edit-text.ts'
import { parseFieldPath } from '../../functions/domain/field-path/field-path.ts'
import { MOST_EDIT_MIB } from '../../functions/edits/edits.ts'
import { startEditThread, type EditThread } from '../../functions/edits/edit-thread.ts'
import { cpuTime } from '../harness/cpu-time.ts'
import { allowedMs } from '../harness/growth.ts'
import { sized } from '../harness/sample.ts'
import { waitFor } from '../harness/wait.ts'
import { openStage, ownerOf, SET, valuesOf } from './stage.ts'
import { drawnTests } from '../harness/drawn-test.ts'

const drawn = drawnTests(t, 3)

const OWNER = ownerOf('shop')
const LONGEST_MS = allowedMs(100)

t.test('a small file, and more of JSON, is edited without a thread', async (t) => {
  const { edit, taken, close } = openStage()
  t.teardown(close)
  const small = valuesOf(YAML_AT_ONCE / 2)
  t.same(await edit(small, SET, OWNER), editText(small, SET))
  const json = Buffer.from(`{"a":"${'x'.repeat(YAML_AT_ONCE)}"}`)
  const inJSON = { ...SET, filePath: 'a.json' }
  t.same(await edit(json, inJSON, OWNER), editText(json, inJSON))
  t.same(taken, [])
})

drawn('a large file is edited without holding the event loop', async (t) => {
  const { edit, taken, held, close } = openStage()
  t.teardown(close)
  const before = valuesOf(sized(600_000, 2 * 1024 * 1024 - 1_000))
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const after = await edit(before, SET, OWNER)
  delay.disable()
  t.equal(Buffer.from(after).toString(), `${before.toString()}zz: x\n`)
  t.ok(delay.max / 1e6 < LONGEST_MS, `the event loop was held for ${(delay.max / 1e6).toFixed(0)} ms`)
  t.same(taken, [MOST_EDIT_MIB])
  t.equal(held(), 1)
  await close()
  t.equal(held(), 0)
})

drawn('a value that makes a small file large is set in a thread', async (t) => {
  const { edit, taken, close } = openStage()
  t.teardown(close)
  const set = [{ field: parseFieldPath('.a'), value: Array.from({ length: 10_000 }, () => 'b') }]
  t.match(Buffer.from(await edit(Buffer.from('c: 1\n'), { ...SET, set }, OWNER)).toString(), /\n- b\n- b\n/)
  t.equal(taken.length, 1)
})

t.test(
  'large values are left to the thread, and larger ones are refused, before anything is made of them',
  async (t) => {
    const run: EditThread['run'] = async (before) => before
    const thread = { run, isEnding: () => false, end: async () => {} }
    const { edit, close } = openStage({ start: () => thread })
    t.teardown(close)
    const members = Array.from({ length: 3_000 }, (_, i) => [`key-${i}`, `value-${i}`] as const)
    const setOf = (count: number): TextEdit['set'] =>
      Array.from({ length: count }, (_, i) => ({ field: parseFieldPath(`.f${i}`), value: new Map(members) }))
    for (const filePath of ['values.yaml', 'values.json']) {
      const before = Buffer.from(filePath.endsWith('json') ? '{}' : 'a: 1\n')
      const began = cpuTime()
      t.equal(await edit(before, { filePath, set: setOf(8) }, OWNER), before, filePath)
      await t.rejects(edit(before, { filePath, set: setOf(64) }, OWNER), {
        reason: 'NotSupported',
        retry: 'never',
        message: /more than 2 MiB/,
      })
      const used = cpuTime() - began
      t.ok(used < allowedMs(10), `${used} ms`)
    }
  },
)

drawn('a thread is used again, and is ended when nobody uses it', async (t) => {
  const { edit, taken, held, close } = openStage()
  t.teardown(close)
  const before = valuesOf(2 * YAML_AT_ONCE)
  await Promise.all(['a', 'b', 'c'].map((namespace) => edit(before, SET, ownerOf(namespace))))
  t.equal(taken.length, 1)
  t.equal(held(), 1)
  await waitFor('the end of the thread', () => held() === 0 || undefined, 10_000)
  await edit(before, SET, OWNER)
  t.equal(taken.length, 2)
})

drawn('an edit gets more memory where little does not suffice', async (t) => {
  const { edit, taken, held, close } = openStage({ start: (heapMiB) => startEditThread(heapMiB / 10) })
  t.teardown(close)
  await edit(valuesOf(120_000), SET, OWNER)
  t.same(taken, [88, 152, MOST_EDIT_MIB])
  t.equal(held(), 1, 'the first two threads have given their memory back')
})

t.test('a thread that cannot be started holds no memory', async (t) => {
  const start = (): never => {
    throw new Error('The pod has no thread left.')
  }
  const { edit, taken, held, close } = openStage({ start })
  t.teardown(close)
  await t.rejects(edit(valuesOf(2 * YAML_AT_ONCE), SET, OWNER), { message: /no thread left/ })
  t.equal(taken.length, 1)
  t.equal(held(), 0)
})

drawn('a file for which the pod has too little memory is refused', async (t) => {
  const { edit, taken, held, close } = openStage({ mostMiB: 40 })
  t.teardown(close)
  await t.rejects(edit(valuesOf(600_000), SET, OWNER), {
    reason: 'NotSupported',
    retry: 'slow',
    message: /^The file values\.yaml takes more memory/,
  })
  t.same(taken, [40])
  t.equal(held(), 0, 'a thread that has ended holds nothing')
})

drawn('a slow edit of one namespace is ended, and that of another is made', async (t) => {
  let count = 0
  const start = (heapMiB: number) => startEditThread(heapMiB, (count += 1) === 1 ? 50 : 30_000)
  const { edit, close } = openStage({ start })
  t.teardown(close)
  const slow = edit(valuesOf(100_000), SET, ownerOf('slow'))
  const other = edit(valuesOf(20_000), SET, ownerOf('other'))
  await t.rejects(slow, { reason: 'Timeout', message: /longer than/ })
  t.match(Buffer.from(await other).toString(), /\nzz: x\n$/)
})

t.test(
  'a namespace that has used its share of the thread gets its small files edited in another',
  async (t) => {
    const { edit, taken, close } = openStage()
    t.teardown(close)
    const small = valuesOf(YAML_AT_ONCE / 2)
    const set = Array.from({ length: 100 }, (_, i) => ({ field: parseFieldPath(`.n${i}`), value: 'x' }))
    const used = cpuTime()
    let files = 0
    for (; taken.length === 0 && files < 1_000; files += 1)
      await edit(small, { ...SET, set }, ownerOf('large'))
    t.ok(cpuTime() - used < allowedMs(600), `${files} files`)
    t.equal(taken.length, 1)
    await edit(small, SET, ownerOf('other'))
    t.equal(taken.length, 1, 'another namespace has a share of its own')
  },
)

t.test('a long edit is ended for another namespace, and not for its own', async (t) => {
  let isFirst = true
  const run: EditThread['run'] = async (before, _edit, signal) => {
    if (!isFirst) return before
    isFirst = false
    await once(signal, 'abort')
    throw signal.reason
  }
  const thread = { run, isEnding: () => false, end: async () => {} }
  const { edit, close } = openStage({ start: () => thread, turnsMs: [20, 20, 20] })
  t.teardown(close)
  const large = valuesOf(600_000)
  const long = edit(large, SET, ownerOf('long'))
  let isEnded = false
  const ended = t
    .rejects(long, { reason: 'Timeout', message: /longer than 0\.02 s/ })
    .then(() => (isEnded = true))
  const own = edit(large, SET, ownerOf('long'))
  // Of timers of the same length, the one that was set first fires first.
  await pause(20)
  t.notOk(isEnded)
  t.equal(await edit(large, SET, ownerOf('other')), large)
  await ended
  t.equal(await own, large)
})

t.test('what needs little waits for no edit that takes long, of whatever namespaces', async (t) => {
  const slow: (() => void)[] = []
  const startWith = (): EditThread => ({
    async run(before, _edit, signal) {
      if (before.length < 40_000) return before
      const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
      slow.push(() => resolve(before))
      signal.addEventListener('abort', () => reject(signal.reason))
      return promise
    },
    isEnding: () => false,
    end: async () => {},
  })
  const { edit, close } = openStage({ start: startWith, turnsMs: [20, 20] })
  t.teardown(close)
  const names = ['a', 'b', 'c', 'd']
  const [small, ...larger] = [20_000, 120_000, 500_000, 600_000].map(valuesOf)
  const long = names.flatMap((name) => larger.map((file) => edit(file, SET, ownerOf(name))))
  await Promise.all(['e', 'f', 'g'].map((name) => edit(small!, SET, ownerOf(name))))
  let left = long.length
  for (const one of long) void one.then(() => (left -= 1))
  t.equal(left, long.length, 'none of those that take long has ended')
  // What was too long for a short turn is made all the same, once it is its turn in another thread.
  while (left > 0) {
    slow.splice(0).forEach((end) => end())
    await new Promise(setImmediate)
  }
  t.equal((await Promise.all(long)).length, 12)
})

t.test(
  'what needs less waits for one edit of those that need more, although it has edited before',
  async (t) => {
    const order: string[] = []
    const ends: (() => void)[] = []
    const run: EditThread['run'] = async (before) => {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      ends.push(() => resolve(undefined))
      await promise
      return before
    }
    const { edit, close } = openStage({ start: () => ({ run, isEnding: () => false, end: async () => {} }) })
    t.teardown(close)
    const [smaller, larger] = [600_000, 1_500_000].map(valuesOf)
    const editOf = (name: string, file: Buffer): Promise<void> =>
      edit(file, SET, ownerOf(name)).then(() => void order.push(name))
    async function endOne(): Promise<void> {
      await waitFor('an edit', () => ends[0], 10_000)
      ends.shift()?.()
    }
    const first = editOf('regular', smaller!)
    await endOne()
    await first
    const all = [...['a', 'b', 'c'].map((name) => editOf(name, larger!)), editOf('regular', smaller!)]
    for (let left = all.length; left > 0; left -= 1) await endOne()
    await Promise.all(all)
    t.same(order, ['regular', 'a', 'regular', 'b', 'c'])
  },
)

t.test('a thread that always has edits leaves its memory to one that has none', async (t) => {
  const ends: (() => void)[] = []
  const run: EditThread['run'] = async (before) => {
    const { promise, resolve } = Promise.withResolvers<Uint8Array>()
    ends.push(() => resolve(before))
    return promise
  }
  const waiting: (() => void)[] = []
  let places = 2
  // Whoever waits gets the place of the one who leaves.
  const release = (): void => (waiting.shift() ?? (() => (places += 1)))()
  const acquire = async (): Promise<() => void> => {
    if (places > 0) places -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    return release
  }
  const start = (): EditThread => ({ run, isEnding: () => false, end: async () => {} })
  const { edit, close } = openStage({ acquire, start })
  t.teardown(close)
  const [small, medium, large] = [20_000, 200_000, 600_000].map(valuesOf)
  const always = [medium!, large!].flatMap((file) => [1, 2, 3].map(() => edit(file, SET, OWNER)))
  await waitFor('two edits', () => ends[1], 10_000)
  let ended = 0
  let before: number | undefined
  const made = edit(small!, SET, ownerOf('other')).then(() => (before = ended))
  await waitFor('one that waits for memory', () => waiting[0], 10_000)
  for (; ended < always.length + 1; ended += 1) {
    await waitFor('an edit', () => ends[0], 10_000)
    ends.shift()?.()
    await new Promise(setImmediate)
  }
  await Promise.all([made, ...always])
  t.ok((before ?? Infinity) < 4, `after ${before} of the others`)
})

drawn('a refusal for want of memory passes the turn on', async (t) => {
  let isFull = true
  const acquire = async () => {
    if (isFull) throw new Error('full')
    return () => undefined
  }
  const { edit, close } = openStage({ acquire })
  t.teardown(close)
  await t.rejects(edit(valuesOf(20_000), SET, OWNER), /full/)
  isFull = false
  t.match(Buffer.from(await edit(valuesOf(20_000), SET, OWNER)).toString(), /\nzz: x\n$/)
})

t.test('an edit that is being made when the threads are closed is made to its end', async (t) => {
  const [begun, made] = [Promise.withResolvers<undefined>(), Promise.withResolvers<Uint8Array>()]
  let ended = 0
  const run: EditThread['run'] = () => {
    begun.resolve(undefined)
    return made.promise
  }
  const thread = { run, isEnding: () => ended > 0, end: async () => void (ended += 1) }
  const { edit, held, close } = openStage({ start: () => thread })
  const before = valuesOf(600_000)
  const edited = edit(before, SET, OWNER)
  await begun.promise
  await close()
  t.equal(ended, 0)
  made.resolve(before)
  t.equal(await edited, before)
  t.match({ ended, held: held() }, { ended: 1, held: 0 })
})
