import t from 'tap'
import { makeAutoscaler, TICK_S, type Scaling } from '../../../../bench/scale/simulation/autoscaler.ts'

const SHIPPED: Scaling = { target: 300, minScale: 0, maxScale: 4 }

/** The decisions while so many requests are in flight, second by second; pods are ready at once. */
function decisions(scaling: Scaling, inFlight: readonly number[]): readonly number[] {
  const autoscaler = makeAutoscaler(scaling)
  const made: number[] = []
  inFlight.forEach((requests, index) => {
    autoscaler.record(requests)
    if ((index + 1) % TICK_S === 0) made.push(autoscaler.decide(made.at(-1) ?? 0))
  })
  return made
}

function seconds(count: number, inFlight: number): readonly number[] {
  return Array.from({ length: count }, () => inFlight)
}

t.test('what was measured: 128 requests are three pods with a target of 64, and one with 200', async (t) => {
  for (const [target, pods] of [
    [64, 3],
    [128, 2],
    [200, 1],
    [300, 1],
  ] as const)
    t.strictSame(decisions({ target, minScale: 0, maxScale: 10 }, seconds(4, 128)), [pods, pods], `${target}`)
})

t.test(
  '512 requests, as many as two webhooks keep in flight, are three pods with a target of 300',
  async (t) => {
    t.strictSame(decisions(SHIPPED, seconds(4, 512)), [3, 3])
  },
)

t.test('the bounds hold', async (t) => {
  t.strictSame(decisions(SHIPPED, seconds(4, 10_000)), [4, 4])
  t.strictSame(decisions({ ...SHIPPED, minScale: 2 }, seconds(4, 1)), [2, 2])
  t.strictSame(decisions(SHIPPED, seconds(4, 0)), [0, 0], 'none without a request')
})

t.test('a burst counts at once, and in panic mode pods stay for a window', async (t) => {
  const made = decisions(SHIPPED, [
    ...seconds(60, 10),
    ...seconds(6, 900),
    ...seconds(56, 10),
    ...seconds(120, 10),
  ])
  t.equal(made[29], 1)
  t.equal(made[32], 4, 'after three decisions, although the mean of a minute is 90')
  t.equal(made[50], 4, 'no pod less within the window')
  t.equal(made.at(-1), 1)
})

t.test('a minute without requests ends the last pod', async (t) => {
  const made = decisions(SHIPPED, [...seconds(4, 5), ...seconds(70, 0)])
  t.equal(made[1], 1)
  t.equal(made[20], 1)
  t.equal(made.at(-1), 0)
})
