import t from 'tap'
import { makeTogether } from '../../../functions/attempt/turns/thread/long-works.ts'
import { shareThread } from '../../../functions/attempt/turns/thread/thread-share.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import type { WorkFor } from '../../../functions/domain/network/share.ts'

const NEVER = new AbortController().signal

interface Terms {
  readonly signal?: AbortSignal
  readonly isUrgent?: boolean
  readonly by?: WorkFor
}

/** A clock on which only work and pauses take time, and what happened on it. */
function stage() {
  const events: string[] = []
  let now = 0
  let pending: { at: number; wake: () => void }[] = []
  const elapsed = (): number => now
  const { workFor, callFor, count, isSpent, mustWait } = shareThread(makeTogether(elapsed), {
    elapsed,
    nextTurn: async () => void events.push('turn'),
    pause: (milliseconds) => new Promise<void>((wake) => pending.push({ at: now + milliseconds, wake })),
  })
  return {
    events,
    elapsed,
    isSpent,
    mustWait,
    count,
    callFor,
    run: (
      namespace: string,
      took: number,
      { signal = NEVER, isUrgent, by = workFor }: Terms = {},
    ): Promise<void> =>
      by(
        namespace,
        () => {
          now += took
          events.push(namespace)
        },
        signal,
        isUrgent,
      ),
    after: async (milliseconds: number): Promise<void> => {
      now += milliseconds
      const due = pending.filter(({ at }) => at <= now)
      pending = pending.filter(({ at }) => at > now)
      for (const { wake } of due) wake()
      await settle()
    },
  }
}

async function settle(): Promise<void> {
  for (let times = 0; times < 50; times += 1) await Promise.resolve()
}

t.test('a namespace that has taken its share waits for more, and another one does not', async (t) => {
  const { events, isSpent, run, after } = stage()
  await Promise.all([run('large', 300), run('large', 300)])
  t.same([isSpent('large'), isSpent('other')], [true, false])
  const third = run('large', 100)
  await run('other', 1)
  t.same(
    events.filter((event) => event !== 'turn'),
    ['large', 'large', 'other'],
  )
  await after(200)
  t.equal(events.at(-1), 'other', 'it has taken 140 ms too much, which come back in 700')
  await after(510)
  await third
  t.equal(events.at(-1), 'large')
})

t.test('of work that waits, one piece is begun at a time', async (t) => {
  const { events, run, after } = stage()
  await run('large', 500)
  const waiting = [run('large', 100), run('large', 100)]
  await after(510)
  t.equal(events.filter((event) => event === 'large').length, 2)
  await after(510)
  await Promise.all(waiting)
  t.equal(events.filter((event) => event === 'large').length, 3)
})

t.test('long work begins in a turn of its own, and short work shares one', async (t) => {
  const { events, run } = stage()
  await Promise.all([run('a', 80), run('b', 80), run('c', 1), run('d', 1)])
  t.same(events, ['a', 'turn', 'b', 'turn', 'c', 'd'])
})

const TEN = Array.from({ length: 10 }, (_, index) => `large ${index}`)

/** Works of 60 ms of ten namespaces, ten of each, all at once. */
function tenTimesTen({ events, run, after }: ReturnType<typeof stage>) {
  const all = TEN.flatMap((namespace) => Array.from({ length: 10 }, () => run(namespace, 60)))
  return async function toEnd(): Promise<void> {
    while (events.filter((event) => TEN.includes(event)).length < 100) await after(100)
    await Promise.all(all)
  }
}

t.test('ten namespaces that always have long work leave most of the thread to others', async (t) => {
  const staged = stage()
  const { events, after, elapsed } = staged
  const toEnd = tenTimesTen(staged)
  await settle()
  const [before, began] = [events.length, elapsed()]
  for (let steps = 0; steps < 400; steps += 1) await after(10)
  const works = events.slice(before).filter((event) => event !== 'turn')
  const part = (works.length * 60) / (elapsed() - began)
  t.ok(part > 0.2 && part < 0.45, `${part} of the time, where all of them have a share of 0.2`)
  t.equal(new Set(works).size, 10, 'each has turns')
  await toEnd()
})

t.test('ten namespaces that always have short calls leave most of the thread to others', async (t) => {
  const { events, run, after, elapsed, callFor } = stage()
  const all = TEN.flatMap((namespace) =>
    Array.from({ length: 100 }, () => run(namespace, 6, { by: callFor })),
  )
  const calls = (): readonly string[] => events.filter((event) => TEN.includes(event))
  for (let steps = 0; steps < 150; steps += 1) await after(10)
  const [before, began] = [calls().length, elapsed()]
  for (let steps = 0; steps < 200; steps += 1) await after(10)
  const part = ((calls().length - before) * 6) / (elapsed() - began)
  t.ok(part > 0.2 && part < 0.5, `${part} of the time`)
  const turns = events.join(' ').split('turn')
  t.ok(
    turns.every((turn) => turn.split('large').length <= 3),
    'two of them in a turn of the event loop',
  )
  while (calls().length < 1_000) await after(100)
  await Promise.all(all)
})

t.test(
  'what is counted of calls is taken from the same shares, and it is known who would wait',
  async (t) => {
    const { events, run, after, count, mustWait, callFor } = stage()
    const states = (): readonly boolean[] => ['team', 'evil'].map(mustWait)
    count('evil', 5)
    t.strictSame(states(), [false, false])
    count('evil', 145)
    t.strictSame(states(), [false, false], 'the next turn of the event loop comes at once')
    await run('team', 1)
    t.strictSame(states(), [false, false], 'there is something left for all')
    count('evil', 150)
    await run('team', 1)
    t.strictSame(states(), [false, true])
    const few = run('team', 1, { by: callFor })
    await settle()
    t.equal(
      events.filter((event) => event === 'team').length,
      3,
      'few calls of another one wait for none of it',
    )
    await few
    const call = run('evil', 1, { by: callFor })
    await after(100)
    t.equal(events.filter((event) => event === 'evil').length, 0)
    await after(300)
    await call
  },
)

t.test('work of a namespace that has taken little waits for none of those that wait', async (t) => {
  const staged = stage()
  const { events, run, after } = staged
  const toEnd = tenTimesTen(staged)
  await settle()
  await after(1_000)
  const before = events.length
  await run('small', 2)
  t.ok(events.slice(before).filter((event) => TEN.includes(event)).length <= 1, 'one of them had begun')
  await toEnd()
})

t.test(
  'of namespaces that have taken more than a little, the one that has taken the least is next',
  async (t) => {
    const { events, run, after } = stage()
    async function take(namespace: string, times: number): Promise<void> {
      for (let taken = 0; taken < times; taken += 1) {
        const done = run(namespace, 60)
        await after(300)
        await done
      }
    }
    await take('much', 5)
    await take('more', 5)
    await take('less', 1)
    const before = events.length
    const waiting = ['much', 'more', 'less'].map((namespace) => run(namespace, 60))
    for (let steps = 0; steps < 20; steps += 1) await after(100)
    await Promise.all(waiting)
    const done = events.slice(before).filter((event) => event !== 'turn')
    t.same(done, ['much', 'less', 'more'], 'the first of them had its turn already')
  },
)

t.test('work that others wait for is only counted, and begins in a turn of its own as well', async (t) => {
  const { events, run, after } = stage()
  await run('large', 500)
  await run('large', 300, { isUrgent: true })
  t.same(events, ['large', 'turn', 'large'])
  const done = run('large', 1)
  await after(1_600)
  t.equal(events.length, 3, 'it has taken 340 ms too much, which come back in 1,700')
  await after(200)
  await done
  t.equal(events.at(-1), 'large')
})

t.test('work that fails counts as well', async (t) => {
  const { events, run } = stage()
  const { workFor } = shareThread()
  const refused = new Failure('NotSupported', 'It is too large.')
  const { signal } = new AbortController()
  await t.rejects(
    workFor(
      'a',
      () => {
        throw refused
      },
      signal,
    ),
    refused,
  )
  t.equal(await workFor('a', () => 7, signal), 7)
  await run('a', 1)
  t.same(events, ['a'])
})

t.test('work that is too late is not begun', async (t) => {
  const { events, run } = stage()
  await run('large', 500)
  const late = run('large', 100, { signal: AbortSignal.abort() })
  await t.rejects(late, { name: 'Failure', reason: 'Timeout' })
  t.same(events, ['large'])
})

t.test('work that waits for that of others ends with its signal, for whatever reason that has', async (t) => {
  const staged = stage()
  const { run } = staged
  const toEnd = tenTimesTen(staged)
  await settle()
  await Promise.all([run('late', 60)])
  const [timeout, deleted] = [new AbortController(), new AbortController()]
  const gone = new Failure('Conflict', 'The resource was deleted.')
  const ended = [timeout, deleted].map(({ signal }) => run('late', 60, { signal }))
  await settle()
  timeout.abort()
  deleted.abort(gone)
  const [late, withdrawn] = await Promise.allSettled(ended)
  t.match(late, { status: 'rejected', reason: { name: 'Failure', reason: 'Timeout' } })
  t.match(withdrawn, { status: 'rejected', reason: gone })
  await toEnd()
})
