import fc from '../harness/fast-check.ts'
import t from 'tap'
import { sized } from '../harness/sample.ts'
import { keepCachesSmall } from './parts/small-caches.ts'
import { installVirtualTime } from '../harness/virtual-time.ts'
import type { PodSettings } from './pods.ts'
import type { Bounds } from './system.ts'

keepCachesSmall()
const { printed, runDrawn } = await import('./schedule.ts')

t.setTimeout(1_200_000)
t.teardown(installVirtualTime())

/** More than can be searched completely. */
const BOUNDS: Bounds = {
  asks: ['create', 'spec', 'request', 'spec'],
  crashes: 2,
  freezes: 2,
  holds: 2,
  losses: 2,
  lostEvents: 1,
  doubles: 2,
  others: 2,
}
const SETTINGS: PodSettings = { breakage: 'none', clocksDiffer: true }
const draw = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

t.test('schedules that are drawn keep the promises', { timeout: 1_200_000 }, async (t) => {
  const runs = sized(20, 10_000)
  const property = fc.asyncProperty(fc.array(draw, { minLength: 5, maxLength: 120 }), async (draws) => {
    const broken = await runDrawn(SETTINGS, BOUNDS, draws)
    if (broken === undefined) return
    const { promise, schedule: steps } = broken
    throw new Error(
      `${promise}: npm run model -- --replay='${printed({ settings: SETTINGS, bounds: BOUNDS, steps })}'`,
    )
  })
  await fc.assert(property, { numRuns: runs })
  t.pass(`${runs} schedules`)
})
