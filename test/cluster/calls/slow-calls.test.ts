import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import {
  FIRST_AT_ONCE,
  MOST_SLOW,
  shareSlowCalls,
  SLOW_AT_ONCE,
  type InTurn,
} from '../../../functions/cluster/calls/slow-calls.ts'
import { makeFairSemaphore } from '../../../functions/domain/sharing/semaphores/fair-semaphore.ts'

async function settle(): Promise<void> {
  for (let times = 0; times < 20; times += 1) await setImmediate()
}

/** Shares on a clock that is set by hand; eight calls at once besides. */
function stage() {
  let time = 0
  let rests: { readonly until: number; readonly end: () => void }[] = []
  const share = shareSlowCalls({
    elapsed: () => time,
    wait: (milliseconds) =>
      new Promise<void>((resolve) => rests.push({ until: time + milliseconds, end: resolve })),
  })
  const places = makeFairSemaphore(8, () => time)
  const running: { readonly owner: string; readonly end: () => void }[] = []

  /** Makes a call, which stays under way until it is answered. */
  function call(owner: string, signal?: AbortSignal, forAnybody?: () => Promise<unknown>): Promise<string> {
    const work = async (): Promise<string> => {
      await new Promise<void>((resolve) => running.push({ owner, end: resolve }))
      return owner
    }
    const inTurn: InTurn = (call) => places(owner, call)
    const given = { ...(signal && { signal }), ...(forAnybody && { forAnybody }) }
    return share(owner, { inTurn, call: work, ...given })
  }

  async function pass(milliseconds: number): Promise<void> {
    time += milliseconds
    const over = rests.filter(({ until }) => until <= time)
    rests = rests.filter(({ until }) => until > time)
    for (const { end } of over) end()
    await settle()
  }

  /** All calls that are under way take so long. */
  async function answerAll(milliseconds: number): Promise<void> {
    await settle()
    await pass(milliseconds)
    for (const { end } of running.splice(0)) end()
    await settle()
  }

  /** A call for anybody, which is answered with the others. */
  function forAnybody(): Promise<void> {
    return new Promise<void>((resolve) => running.push({ owner: 'anybody', end: resolve }))
  }

  return { call, pass, answerAll, settle, forAnybody, running: () => running.map(({ owner }) => owner) }
}

const HOSTILE = Array.from({ length: 10 }, (_, index) => `hostile-${index}`)

t.test(
  'calls of owners that take the server long are made one at a time, and leave others room',
  async (t) => {
    const { call, answerAll, settle, running } = stage()
    void call('quick')
    await answerAll(5)
    const flood = Array.from({ length: 20 }, () => HOSTILE.map((owner) => call(owner))).flat()
    await settle()
    t.equal(running().length, 8, 'nobody has been slow yet')
    for (let times = 0; times < 3; times += 1) await answerAll(1_500)
    const others = Promise.all([call('quick'), call('new')])
    await settle()
    t.same(running().slice(-2), ['quick', 'new'], 'neither waits for a slow one')
    await answerAll(5)
    t.same(await others, ['quick', 'new'])
    for (let times = 0; times < 20; times += 1) {
      t.ok(running().length <= SLOW_AT_ONCE)
      await answerAll(1_500)
    }
    void Promise.allSettled(flood)
  },
)

t.test('after each slow call there is a rest for as long as it took, of a second at most', async (t) => {
  const { call, pass, answerAll, settle, running } = stage()
  void call('quick')
  await answerAll(5)
  void call('slow')
  await answerAll(5_000)
  for (let index = 0; index < SLOW_AT_ONCE * 3; index += 1) void call('slow')
  await settle()
  t.equal(running().length, SLOW_AT_ONCE)
  await answerAll(200)
  t.equal(running().length, 0)
  await pass(199)
  t.equal(running().length, 0)
  await pass(1)
  t.equal(running().length, SLOW_AT_ONCE)
  await answerAll(30_000)
  await pass(999)
  t.equal(running().length, 0)
  await pass(1)
  t.equal(running().length, SLOW_AT_ONCE)
})

t.test('of owners whose calls are slow, the one that has taken least is next', async (t) => {
  const { call, answerAll, settle, running, pass } = stage()
  void call('quick')
  await answerAll(5)
  for (const owner of ['much', 'little']) {
    void call(owner)
    await answerAll(1_900)
  }
  for (let index = 0; index < 10; index += 1) void call('much')
  await settle()
  void call('little')
  await answerAll(1_900)
  await pass(1_900)
  t.ok(running().includes('little'))
})

t.test('where the server takes as long for everybody, nobody is slow', async (t) => {
  const { call, answerAll, running, settle } = stage()
  void call('first')
  await answerAll(150)
  for (let index = 0; index < 30; index += 1) {
    void call('busy')
    await answerAll(150 + (index % 10) * 10)
  }
  for (let index = 0; index < 8; index += 1) void call('busy')
  await settle()
  t.equal(running().length, 8)
})

t.test('whoever is as slow as anybody would be is not slow', async (t) => {
  const { call, answerAll, forAnybody, running } = stage()
  void call('quick by luck')
  await answerAll(5)
  const ask = (owner: string): void => void call(owner, undefined, forAnybody)
  ask('busy')
  await answerAll(1_200)
  t.same(running(), ['anybody'])
  for (let index = 0; index < 4; index += 1) ask('busy')
  for (let measured = 1; measured < 5; measured += 1) {
    await answerAll(600)
    t.ok(running().includes('anybody'))
  }
  await answerAll(600)
  for (let index = 0; index < 8; index += 1) ask('busy')
  await answerAll(600)
  t.ok(running().length > SLOW_AT_ONCE)
})

t.test('whoever takes longer than anybody would stays slow', async (t) => {
  const { call, answerAll, running, settle } = stage()
  void call('quick')
  await answerAll(5)
  const forAnybody = (): Promise<void> => Promise.resolve()
  for (let index = 0; index < 4; index += 1) void call('slow', undefined, forAnybody)
  await answerAll(1_500)
  for (let times = 0; times < 10; times += 1) {
    for (let index = 0; index < 4; index += 1) void call('slow', undefined, forAnybody)
    await answerAll(1_500)
    t.ok(running().length <= SLOW_AT_ONCE)
    await settle()
  }
})

t.test('after a server has stood still, nobody is slow for more than some minutes', async (t) => {
  const { call, answerAll, pass, running, settle } = stage()
  void call('busy')
  await answerAll(5)
  for (let index = 0; index < 8; index += 1) void call('busy')
  await answerAll(60_000)
  await pass(150_000)
  void call('busy')
  await answerAll(5)
  for (let index = 0; index < 8; index += 1) void call('busy')
  await settle()
  t.equal(running().length, 8)
})

t.test('where very many are slow, the server is slow for everybody, and nobody is', async (t) => {
  const { call, answerAll, running, settle, pass } = stage()
  const slowly = async (owner: string): Promise<void> => {
    void call('quick by luck')
    await answerAll(5)
    void call(owner)
    await answerAll(1_500)
  }
  const asked = async (): Promise<number> => {
    for (let index = 0; index < 4; index += 1) void call(`slow-${MOST_SLOW - 1}`)
    await settle()
    return running().length
  }
  for (let index = 0; index < MOST_SLOW; index += 1) await slowly(`slow-${index}`)
  t.equal(await asked(), SLOW_AT_ONCE)
  while (running().length > 0) {
    await answerAll(5)
    await pass(5)
  }
  await slowly('one more')
  t.equal(await asked(), 4)
})

t.test('who was slow is so no more after a while', async (t) => {
  const { call, answerAll, running, settle, pass } = stage()
  void call('quick')
  await answerAll(5)
  void call('slow')
  await answerAll(1_350)
  await pass(60_000)
  void call('slow')
  await answerAll(5)
  for (let index = 0; index < 8; index += 1) void call('slow')
  await settle()
  t.equal(running().length, 8)
})

t.test('of an owner whose calls were not quick lately two are made first, and then all', async (t) => {
  const { call, answerAll, running, settle, pass } = stage()
  for (let times = 0; times < 2; times += 1) {
    for (let index = 0; index < 6; index += 1) void call('large')
    await settle()
    t.equal(running().length, FIRST_AT_ONCE)
    void call('other')
    await settle()
    t.equal(running().length, FIRST_AT_ONCE + 1)
    await answerAll(5)
    t.equal(running().length, 6 - FIRST_AT_ONCE)
    await answerAll(5)
    await pass(10_001)
  }
  const ended = new AbortController()
  for (let index = 0; index < FIRST_AT_ONCE; index += 1) void call('large')
  const waiting = call('large', ended.signal)
  await settle()
  ended.abort(new Error('late'))
  t.match(await waiting.catch((error: unknown) => error), { reason: 'Internal' })
})

t.test('a signal ends the wait of who is slow, and what a call throws is thrown', async (t) => {
  const { call, answerAll, settle } = stage()
  void call('quick')
  await answerAll(5)
  void call('slow')
  await answerAll(5_000)
  for (let index = 0; index < SLOW_AT_ONCE; index += 1) void call('slow')
  await settle()
  const ended = new AbortController()
  const waiting = call('slow', ended.signal)
  await settle()
  ended.abort(new Error('late'))
  await t.rejects(waiting, /late/)
  const share = shareSlowCalls()
  const failing: () => Promise<never> = () => Promise.reject(new Error('gone'))
  await t.rejects(share('any', { inTurn: (call) => call(), call: failing }), /gone/)
})
