import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import {
  openKeyedTurns,
  type HeldTurn,
  type TurnTaker,
} from '../../../functions/domain/sharing/keyed-turns.ts'
import { CALLS, countWithCredit } from '../../../functions/domain/sharing/taken-time.ts'
import { pacedClock } from '../../harness/paced-clock.ts'

const NEVER = new AbortController().signal
const LATE = new Failure('Timeout', 'Late.')

function taker(owner: string, more: Partial<TurnTaker> = {}): TurnTaker {
  return { key: 'token', owner, signal: NEVER, late: () => LATE, ...more }
}

/** Works that note when they begin, and end when they are told, and a clock that a test sets. */
function stage(places: number) {
  const clock = { now: 0 }
  const inTurn = openKeyedTurns(places, () => clock.now)
  const begun: string[] = []
  const work = (owner: string, name: string, more: Partial<TurnTaker> = {}) => {
    const end = Promise.withResolvers<undefined>()
    const turn = Promise.withResolvers<HeldTurn>()
    const ended = inTurn(taker(owner, more), (held) => {
      begun.push(name)
      turn.resolve(held)
      return end.promise
    })
    const over = async (): Promise<void> => {
      end.resolve(undefined)
      await ended
      await setImmediate()
    }
    return { ended, turn: turn.promise, end: over }
  }
  return { inTurn, begun, work, clock }
}

t.test('so many works of a key run at once, and those of another key besides', async (t) => {
  const { begun, work } = stage(2)
  const [one, two, three] = [work('a', '1'), work('a', '2'), work('a', '3')]
  const other = work('a', 'other', { key: 'another' })
  await setImmediate()
  t.strictSame(begun, ['1', '2', 'other'])
  await two.end()
  t.strictSame(begun, ['1', '2', 'other', '3'])
  await Promise.all([one.end(), three.end(), other.end()])
})

t.test('an owner with many works waiting keeps another one from the next turn only', async (t) => {
  const { begun, work } = stage(1)
  const all = ['1', '2', '3', '4'].map((name) => work('a', name))
  all.push(work('b', 'other'))
  await Promise.all(all.map(({ end }) => end()))
  t.strictSame(begun, ['1', '2', 'other', '3', '4'])
})

t.test('a turn is passed to another owner and comes back before others of its own', async (t) => {
  const { begun, work, clock } = stage(1)
  const first = work('a', 'first')
  const own = work('a', 'own')
  const turn = await first.turn
  clock.now += 1_000
  t.equal(await turn.pass(), false, 'for nobody but its own')
  const other = work('b', 'other')
  const passed = turn.pass()
  await setImmediate()
  t.strictSame(begun, ['first', 'other'])
  await other.end()
  t.equal(await passed, true)
  t.strictSame(begun, ['first', 'other'])
  await first.end()
  await own.end()
  t.strictSame(begun, ['first', 'other', 'own'])
})

t.test(
  'a turn is passed only to those who have taken less, and comes back before those who have taken as much',
  async (t) => {
    const clock = { now: 0 }
    const inTurn = openKeyedTurns(1, () => clock.now, { openTaken: () => countWithCredit(CALLS) })
    const order: string[] = []
    const work = (owner: string, calls: number): Promise<void> =>
      inTurn(taker(owner), async (turn) => {
        for (let n = 0; n < calls; n += 1) {
          if (n > 0) await turn.pass()
          order.push(owner)
          clock.now += 300
          await setImmediate()
        }
      })
    await Promise.all([work('a', 4), work('b', 3), work('c', 1)])
    t.equal(order.join(''), 'abcbaaba')
  },
)

t.test('a turn that others wait for is not passed while it is kept', async (t) => {
  const { begun, work, clock } = stage(1)
  const first = work('a', 'first')
  const turn = await first.turn
  clock.now += 1_000
  const other = work('b', 'other')
  t.equal(await turn.keep(() => turn.pass()), false)
  t.strictSame(begun, ['first'])
  const passed = turn.pass()
  await other.end()
  t.equal(await passed, true)
  await first.end()
})

t.test('work without the turn lets others go before, and it is told whether a turn is kept', async (t) => {
  const { begun, work } = stage(1)
  const first = work('a', 'first')
  const turn = await first.turn
  const other = work('b', 'other')
  const left = Promise.withResolvers<number>()
  t.equal(turn.isKept(), false)
  t.equal(await turn.keep(() => Promise.resolve(turn.isKept())), true)
  const without = turn.without(() => left.promise)
  await setImmediate()
  t.strictSame(begun, ['first', 'other'])
  left.resolve(2)
  const own = work('b', 'next')
  await other.end()
  t.equal(await without, 2)
  t.strictSame(begun, ['first', 'other'])
  await first.end()
  await own.end()
})

t.test('who has waited for something else comes back in the order of all', async (t) => {
  const { begun, work, clock } = stage(1)
  const first = work('a', 'first')
  const turn = await first.turn
  const other = work('b', 'other')
  clock.now += 1_000
  const back = turn.without(() => Promise.resolve()).then(() => begun.push('back'))
  await other.turn
  const next = work('c', 'next')
  await other.end()
  await next.end()
  await back
  t.strictSame(begun, ['first', 'other', 'next', 'back'])
  await first.end()
})

t.test('who has come back before all passes its turn to the next who does', async (t) => {
  const { begun, work, clock } = stage(1)
  const [one, two] = [work('a', 'one'), work('b', 'two')]
  const turn = await one.turn
  turn.leave()
  const other = await two.turn
  clock.now += 5_000
  const last = work('c', 'last')
  const back = turn.comeBack().then(() => begun.push('one is back'))
  other.leave()
  await back
  const next = other.comeBack().then(() => begun.push('two is back'))
  const passed = turn.pass()
  await next
  await two.end()
  t.equal(await passed, true)
  await one.end()
  await last.end()
  t.strictSame(begun, ['one', 'two', 'one is back', 'two is back', 'last'])
})

t.test('whoever left its turn gets the next one, also from an owner of its own', async (t) => {
  const { begun, work, clock } = stage(1)
  const first = work('a', 'first')
  const turn = await first.turn
  const [own, next] = [work('a', 'own'), work('b', 'next')]
  turn.leave()
  const held = await own.turn
  clock.now += 1_000
  const back = turn.comeBack().then(() => begun.push('back'))
  const passed = held.pass()
  await back
  t.strictSame(begun, ['first', 'own', 'back'])
  await first.end()
  await next.end()
  await passed
  await own.end()
  t.strictSame(begun, ['first', 'own', 'back', 'next'])
})

t.test('who waits for too long fails, and holds nothing', async (t) => {
  const { begun, work } = stage(1)
  const time = new AbortController()
  const first = work('a', 'first')
  const waiting = work('b', 'waiting', { signal: time.signal })
  const reason = new AbortController()
  const failing = work('b', 'failing', { signal: reason.signal })
  time.abort()
  reason.abort(new Failure('Conflict', 'Taken.'))
  await t.rejects(waiting.ended, { message: 'Late.' })
  await t.rejects(failing.ended, { message: 'Taken.' })
  await t.rejects(work('c', 'late', { signal: time.signal }).ended, { message: 'Late.' })
  await first.end()
  await work('c', 'next').end()
  t.strictSame(begun, ['first', 'next'])
})

t.test('whose time is over after it has passed its turn does not go on', async (t) => {
  const { inTurn, work, clock } = stage(1)
  const time = new AbortController()
  const other = Promise.withResolvers<ReturnType<typeof work>>()
  const first = inTurn(taker('a', { signal: time.signal }), async (turn) => {
    clock.now += 1_000
    other.resolve(work('b', 'other'))
    await turn.pass()
  })
  const next = await other.promise
  await next.turn
  time.abort()
  await t.rejects(first, { message: 'Late.' })
  const last = work('c', 'last')
  await next.end()
  await last.end()
})

t.test('what ends after the work that has begun it takes no turn again', async (t) => {
  const { begun, work } = stage(1)
  const slow = Promise.withResolvers<undefined>()
  const first = work('a', 'first')
  const [other, next] = [work('b', 'other'), work('b', 'next')]
  // Such as a handshake that waits for a share of the thread, of a call that is given up meanwhile.
  const left = (await first.turn).without(() => slow.promise)
  await other.turn
  await first.end()
  slow.resolve(undefined)
  await setImmediate()
  await other.end()
  t.strictSame(begun, ['first', 'other', 'next'])
  await Promise.all([left, next.end()])
})

t.test('a turn that is held for long is lent, unless it could be passed on meanwhile', async (t) => {
  const { elapsed, wait, goOn } = pacedClock()
  const lending = { afterMs: 1_000, most: 3, wait }
  const inTurn = openKeyedTurns(1, elapsed, { lending })
  const begun: string[] = []
  /** Calls of so many milliseconds, each in the same turn if nobody has taken less. */
  const work = (owner: string, calls: readonly number[]): Promise<void> =>
    inTurn(taker(owner), async (turn) => {
      for (const [index, milliseconds] of calls.entries()) {
        if (index > 0) await turn.pass()
        begun.push(owner)
        await wait(milliseconds)
      }
    })
  const all = [work('a', [400, 400, 5_000]), work('b', [5_000]), work('c', [100]), work('d', [100])]
  await goOn(1_750)
  t.equal(begun.join(''), 'aaa')
  await goOn(1_850)
  t.equal(begun.join(''), 'aaab')
  await goOn(2_950)
  t.equal(begun.join(''), 'aaabcd', 'another one once the second is long, and the next after it')
  await goOn(20_000)
  await Promise.all(all)
})

t.test('for a turn that was given up nothing is waited for', async (t) => {
  const { elapsed, wait, goOn } = pacedClock()
  const waits: number[] = []
  const watch = (milliseconds: number): Promise<void> => {
    waits.push(milliseconds)
    return wait(milliseconds)
  }
  const inTurn = openKeyedTurns(1, elapsed, { lending: { afterMs: 1_000, most: 2, wait: watch } })
  const ended = inTurn(taker('a'), async (turn) => {
    await wait(100)
    await turn.without(() => Promise.resolve())
    await wait(2_000)
  })
  await goOn(3_000)
  await ended
  t.strictSame(waits, [1_000, 1_000])
})
