import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { watchUsualTime } from '../../../functions/cluster/calls/usual-time.ts'

/** On a clock that is set by hand; a wait passes by itself. */
function stage() {
  let time = 0
  const pass = (milliseconds: number): void => void (time += milliseconds)
  const wait = async (milliseconds: number): Promise<void> => pass(milliseconds)
  const usual = watchUsualTime({ elapsed: () => time, wait })
  /** A call that takes so long. */
  const taking = (milliseconds: number) => (): Promise<void> => wait(milliseconds)
  /** Calls that take so long, one after the other. */
  function takingEach(milliseconds: readonly number[]) {
    const rest = [...milliseconds]
    return (): Promise<void> => wait(rest.shift() ?? 0)
  }
  const time_ = (milliseconds: number): Promise<void> => usual.time(taking(milliseconds), () => undefined)
  return { usual, pass, wait, takingEach, taking, time: time_ }
}

const WANTED = (): boolean => true

t.test(
  'what the server needs for anybody counts twice, by the quickest of five calls, for a while',
  async (t) => {
    const { usual, pass, takingEach, taking, time } = stage()
    await time(5)
    t.equal(usual.most(), 50)
    t.ok(await usual.measure(takingEach([900, 300, 310, 900, 400]), WANTED))
    t.equal(usual.most(), 600)
    t.notOk(await usual.measure(takingEach([300, 300, 5, 300, 300]), WANTED), 'it was measured a moment ago')
    t.equal(usual.most(), 600)
    pass(5_000)
    t.ok(await usual.measure(takingEach([300, 300, 5, 300, 300]), WANTED))
    t.equal(usual.most(), 50)
    pass(5_000)
    t.ok(await usual.measure(taking(300), WANTED))
    pass(30_000)
    t.equal(usual.most(), 50, 'it is known no more')
  },
)

t.test('while many calls are under way, nothing is measured: these may be the cause', async (t) => {
  const { usual, taking } = stage()
  const ends = Array.from({ length: 5 }, () => Promise.withResolvers<undefined>())
  const calls = ends.map(({ promise }) =>
    usual.time(
      () => promise,
      () => undefined,
    ),
  )
  t.notOk(await usual.measure(taking(300), WANTED))
  ends[0]?.resolve(undefined)
  await setImmediate()
  t.ok(await usual.measure(taking(300), WANTED))
  for (const { resolve } of ends) resolve(undefined)
  await Promise.all(calls)
})

t.test('a call beside which many others have begun tells nothing', async (t) => {
  const { usual, taking, wait, time } = stage()
  await time(5)
  const others = Promise.withResolvers<undefined>()
  const begun: Promise<unknown>[] = []
  const disturbed = async (): Promise<void> => {
    for (let index = 0; index < 5; index += 1)
      begun.push(
        usual.time(
          () => others.promise,
          () => undefined,
        ),
      )
    await wait(300)
  }
  t.notOk(await usual.measure(disturbed, WANTED))
  t.equal(usual.most(), 50)
  others.resolve(undefined)
  await Promise.all(begun)
  t.ok(await usual.measure(taking(300), WANTED))
})

t.test('calls that fail tell nothing, and nothing is asked that is not wanted any more', async (t) => {
  const { usual, pass, wait, taking } = stage()
  let asked = 0
  const failing = async (): Promise<never> => {
    asked += 1
    await wait(300)
    throw new Error('gone')
  }
  t.notOk(await usual.measure(failing, WANTED))
  t.ok(asked > 5 && asked < 100, 'it gives up')
  t.equal(usual.most(), Infinity, 'no call is known')
  asked = 0
  t.notOk(await usual.measure(failing, () => false))
  t.equal(asked, 0)
  const both = [usual.measure(taking(300), WANTED), usual.measure(failing, WANTED)]
  t.same(await Promise.all(both), [true, false], 'one at a time')
  t.equal(asked, 0)
  pass(1)
})

t.test('what a call throws is thrown, and its time is told', async (t) => {
  const { usual, wait } = stage()
  const told: number[] = []
  const failing = async (): Promise<never> => {
    await wait(20)
    throw new Error('gone')
  }
  await t.rejects(
    usual.time(failing, (took) => told.push(took)),
    /gone/,
  )
  t.same(told, [20])
  t.equal(usual.most(), 80, 'four times the quickest')
})
