import t from 'tap'
import { makeClock } from '../../../../bench/scale/simulation/clock.ts'
import { makeMachine } from '../../../../bench/scale/simulation/processor.ts'
import { randomBy } from '../../../../bench/scale/simulation/random.ts'

const NEVER = (): boolean => false

t.test(
  'events happen by time, and those of the same time in the order in which they were planned',
  async (t) => {
    const clock = makeClock()
    const random = randomBy(7)
    const delays = Array.from({ length: 200 }, () => Math.floor(random() * 20))
    const seen: (readonly [time: number, index: number])[] = []
    delays.forEach((delay, index) => clock.after(delay, () => seen.push([clock.now(), index])))
    clock.run(NEVER)
    const planned = delays.map((delay, index) => [delay, index] as const)
    t.strictSame(
      seen,
      planned.toSorted(([a, i], [b, j]) => a - b || i - j),
    )
  },
)

t.test('time stops when the end is reached', async (t) => {
  const clock = makeClock()
  let beats = 0
  function beat(): void {
    beats += 1
    clock.after(10, beat)
  }
  beat()
  clock.run(() => beats === 4)
  t.equal(clock.now(), 30)
})

t.test('two programs share a core in slices, and a second core ends the wait', async (t) => {
  for (const [cores, short, long] of [
    [1, 15, 20],
    [2, 10, 10],
  ] as const) {
    const clock = makeClock()
    const machine = makeMachine(clock, cores)
    const ends: number[] = []
    machine.addProgram().run(10, () => ends.push(clock.now()))
    machine.addProgram().run(10, () => ends.push(clock.now()))
    clock.run(NEVER)
    t.strictSame(ends, [short, long], `${cores} cores`)
  }
})

t.test('a program with more shares gets more of a core, and all CPU is counted', async (t) => {
  const clock = makeClock()
  const machine = makeMachine(clock, 1)
  const [one, three] = [machine.addProgram(), machine.addProgram(3)]
  let [first, second] = [0, 0]
  one.run(50, () => (first = clock.now()))
  for (const part of [1, 2, 3]) three.run(50 / part, () => (second = clock.now()))
  clock.run(NEVER)
  t.ok(first > second, `${first} after ${second}`)
  t.equal(one.used() + Math.round(three.used()), 50 + 92)
})

t.test('the same seed gives the same numbers, from 0 to 1', async (t) => {
  const draw = (seed: number): readonly number[] => {
    const random = randomBy(seed)
    return Array.from({ length: 100 }, random)
  }
  t.strictSame(draw(1), draw(1))
  t.notSame(draw(1), draw(2))
  t.ok(draw(1).every((number) => number >= 0 && number < 1))
  const mean = draw(3).reduce((sum, number) => sum + number, 0) / 100
  t.ok(mean > 0.4 && mean < 0.6, `mean ${mean}`)
})
