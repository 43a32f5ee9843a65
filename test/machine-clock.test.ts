import t from 'tap'
import { openMachineClock } from '../functions/machine-clock.ts'

t.test(
  'the time in which the machine was suspended has passed, and is no time that comes back',
  async (t) => {
    const clocks = { running: 5_000, sinceBoot: 900_000 }
    const clock = openMachineClock({ running: () => clocks.running, sinceBoot: () => clocks.sinceBoot })
    t.equal(clock(), 5_000)
    clocks.running += 1_000.25
    clocks.sinceBoot += 1_010
    t.equal(clock(), 6_000.25, 'the second one is less exact')
    clocks.sinceBoot += 40_000
    t.equal(clock(), 46_010)
    clocks.running += 500
    clocks.sinceBoot += 490
    t.equal(clock(), 46_510)
  },
)

t.test('it does not go back where the time of suspension is near the least that counts', async (t) => {
  const clocks = { running: 0, sinceBoot: 1_004 }
  let since = 0
  const clock = openMachineClock({ running: () => clocks.running, sinceBoot: () => since })
  let last = clock()
  for (let i = 0; i < 1_000; i += 1) {
    clocks.running += 1.5
    since = Math.floor((clocks.running + clocks.sinceBoot) / 10) * 10
    const now = clock()
    t.ok(now >= last)
    last = now
  }
  t.ok(last >= clocks.running + 990)
})

t.test('of this machine it goes on, and not back', async (t) => {
  const clock = openMachineClock()
  const times = Array.from({ length: 1_000 }, clock)
  t.ok(times.every((time, i) => i === 0 || time >= (times[i - 1] ?? 0)))
  t.ok(Math.abs(clock() - performance.now()) < 1_000)
})
