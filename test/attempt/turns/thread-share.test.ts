import t from 'tap'
import { shareThread } from '../../../functions/attempt/turns/thread-share.ts'
import { Failure } from '../../../functions/domain/failure.ts'

const NEVER = new AbortController().signal

/** A clock on which only work and pauses take time, and what happened on it. */
function stage() {
  const events: string[] = []
  let now = 0
  let pending: { at: number; wake: () => void }[] = []
  const { workFor, isSpent } = shareThread({
    elapsed: () => now,
    nextTurn: async () => void events.push('turn'),
    pause: (milliseconds) => new Promise<void>((wake) => pending.push({ at: now + milliseconds, wake })),
  })
  return {
    events,
    isSpent,
    run: (
      namespace: string,
      took: number,
      { signal = NEVER, isUrgent }: { readonly signal?: AbortSignal; readonly isUrgent?: boolean } = {},
    ): Promise<void> =>
      workFor(
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
