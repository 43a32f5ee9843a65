import { setImmediate as settled } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { makeTogether } from '../../../functions/attempt/turns/thread/long-works.ts'
import type { ThreadClock } from '../../../functions/attempt/turns/thread/thread-clock.ts'
import { shareThread } from '../../../functions/attempt/turns/thread/thread-share.ts'
import { Failure } from '../../../functions/domain/failure.ts'

const NEVER = new AbortController().signal
/** What the answers of one creation take of the thread at most, in milliseconds. */
const CREATION_MS = 40

/** A thread on which only `work` and pauses take time; a turn of its event loop is over when all that can go on has done so. */
function thread() {
  let now = 0
  let turns: (() => void)[] = []
  const pauses: { readonly until: number; readonly end: () => void }[] = []
  const clock: ThreadClock = {
    elapsed: () => now,
    nextTurn: () => new Promise<void>((go) => turns.push(go)),
    pause: (milliseconds) => new Promise<void>((end) => pauses.push({ until: now + milliseconds, end })),
  }
  return {
    ...clock,
    work: (milliseconds: number) => (): void => void (now += milliseconds),
    goOn: async (until: number): Promise<void> => {
      while (now < until) {
        await settled()
        const due = pauses.filter((pause) => pause.until <= now)
        for (const pause of due) pauses.splice(pauses.indexOf(pause), 1)
        const ready = [...due.map(({ end }) => end), ...turns]
        turns = []
        for (const go of ready) go()
        if (ready.length === 0) now = Math.min(until, ...pauses.map((pause) => pause.until))
      }
      await settled()
    },
  }
}

/** The shares of such a thread. */
function stage() {
  const { goOn, work, ...clock } = thread()
  const { pause, nextTurn, elapsed } = clock
  const shares = shareThread(makeTogether(clock.elapsed), clock)

  /** Creates at a host that takes 60 ms for an answer; what it waited, beyond that. */
  const create = async (namespace: string, answers: readonly number[]): Promise<number> => {
    const began = elapsed()
    const release = await shares.reserve(namespace, NEVER)
    for (const milliseconds of answers) {
      await pause(60)
      await shares.workFor(namespace, work(milliseconds), NEVER, true)
    }
    release()
    return elapsed() - began - 60 * answers.length
  }
  return {
    ...shares,
    goOn,
    work,
    pause,
    elapsed,
    create,
    /** Twelve turns of the event loop, each with a little work; what it waited. */
    attempt: async (): Promise<number> => {
      const began = elapsed()
      for (let turn = 0; turn < 12; turn += 1) {
        await nextTurn()
        await shares.workFor('honest', work(1), NEVER)
      }
      return elapsed() - began
    },
  }
}

/** Does it again and again, forever. */
async function again(work: () => Promise<unknown>): Promise<void> {
  for (;;) await work()
}

t.test('namespaces with long answers to creations leave most of the thread to others', async (t) => {
  for (const count of [3, 10]) await t.test(String(count), (t) => createAll(t, count))

  async function createAll(t: Test, count: number): Promise<void> {
    const { goOn, create, attempt, pause } = stage()
    let taken = 0
    for (let one = 0; one < count * 4; one += 1) {
      void again(async () => {
        await create(`evil-${one % count}`, [CREATION_MS])
        taken += CREATION_MS
      })
    }
    const [attempts, creations]: [number[], number[]] = [[], []]
    void again(async () => {
      await pause(500)
      attempts.push(await attempt())
    })
    void again(async () => {
      await pause(500)
      creations.push(await create('team', [1]))
    })
    await goOn(30_000)
    t.ok(taken / 30 > 200 && taken / 30 < 400, `they take ${taken / 30} ms of it a second`)
    t.ok(Math.max(...attempts) < 600, `an attempt waits ${Math.max(...attempts)} ms at most`)
    t.ok(Math.max(...creations) < 600, `a creation of another waits ${Math.max(...creations)} ms at most`)
    t.ok(attempts.length > 25 && creations.length > 40)
  }
})

t.test('what creations have taken is taken from all long works', async (t) => {
  const { goOn, work, workFor, create, elapsed } = stage()
  // It has had the little that it may take without a turn.
  await workFor('large', work(60), NEVER)
  const creation = create('evil', [300])
  await goOn(500)
  await creation
  const long = workFor('large', work(60), NEVER).then(elapsed)
  await goOn(2_000)
  t.equal(Math.round(await long), 1_150, 'all had 100 ms for long works, and get back 300 a second')
})

t.test('a namespace does two creations at a time, and one once it has taken much', async (t) => {
  const { goOn, reserve, workFor, work } = stage()
  let had = 0
  const open = async () => {
    const release = await reserve('evil', NEVER)
    had += 1
    return release
  }
  const [first, second, third] = [open(), open(), open()]
  await goOn(100)
  t.equal(had, 2)
  const releaseFirst = await first
  releaseFirst()
  releaseFirst()
  await goOn(200)
  t.equal(had, 3, 'each end counts once')
  for (const release of [await second, await third]) release()
  const more = workFor('evil', work(100), NEVER, true)
  await goOn(1_000)
  await more
  const [fourth, fifth] = [open(), open()]
  await goOn(2_000)
  t.equal(had, 4)
  ;(await fourth)()
  await goOn(2_500)
  t.equal(had, 5)
  ;(await fifth)()
})

t.test('what is urgent waits for the next turn of the event loop, whatever it has taken', async (t) => {
  const { goOn, workFor, work, elapsed } = stage()
  const works = [500, 300, 1].map((milliseconds) => workFor('evil', work(milliseconds), NEVER, true))
  await goOn(801)
  await Promise.all(works)
  t.equal(elapsed(), 801)
})

t.test('who waits for its share before a creation ends with its signal', async (t) => {
  const { goOn, reserve, workFor, work } = stage()
  const time = new AbortController()
  // One that waits for its own share, one for all long works, and one for another creation.
  void workFor('spent', work(500), NEVER, true)
  void workFor('long', work(300), NEVER, true)
  await goOn(810)
  const release = await Promise.all([reserve('many', NEVER), reserve('many', NEVER)])
  const late = ['spent', 'long', 'many'].map(async (namespace) => reserve(namespace, time.signal))
  await goOn(820)
  const gone = new Failure('Conflict', 'The resource was deleted.')
  time.abort(gone)
  for (const one of late) await t.rejects(one, gone)
  for (const end of release) end()
  t.type(reserve('many', NEVER), Function, 'it need not wait')
})
