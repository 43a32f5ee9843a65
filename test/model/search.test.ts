import t from 'tap'
import { isCounted, isLong, sample, SEED } from '../harness/sample.ts'
import type { Breakage } from './parts/function-pod.ts'
import { keepCachesSmall } from './parts/small-caches.ts'
import { installVirtualTime } from '../harness/virtual-time.ts'
import type { PodSettings } from './pods.ts'
import type { Schedule } from './schedule.ts'
import type { Found } from './search.ts'
import type { Bounds } from './system.ts'

keepCachesSmall()
const { makeLocalStates } = await import('./parts/local-states.ts')
const { makePods } = await import('./pods.ts')
const { NO_FAULTS, printed, readSchedule, replay } = await import('./schedule.ts')
const { searchAll } = await import('./search.ts')
const { makeSystem } = await import('./system.ts')

t.setTimeout(1_200_000)
t.teardown(installVirtualTime())

type Faults = Partial<Omit<Bounds, 'asks'>>

const SOUND: PodSettings = { breakage: 'none', clocksDiffer: false }
const ONE = ['create'] as const
const TWO = ['create', 'spec'] as const
const THREE = ['create', 'spec', 'request'] as const
const SUSPENDED = ['create', 'suspend', 'resume'] as const
const WITHDRAWN = ['create', 'request', 'request', 'withdraw', 'back'] as const
const SUSPENDED_TWO = ['create', 'suspend', 'spec', 'resume'] as const

/** What is searched completely, and at least how many states that are: a search of less has lost something. */
type Searched = readonly (readonly [asks: Bounds['asks'], faults: Faults, states: number])[]

/** Seconds together; a short run has one of each three. */
const COMPLETE: Searched = [
  [THREE, {}, 1_400],
  [THREE, { lostEvents: 1 }, 2_500],
  [TWO, { others: 1 }, 500],
  [TWO, { crashes: 1 }, 3_000],
  [ONE, { freezes: 1 }, 1_200],
  [ONE, { holds: 1 }, 250],
  [TWO, { losses: 1 }, 1_500],
  [TWO, { doubles: 1 }, 500],
  [ONE, { crashes: 1, losses: 1 }, 1_000],
  [TWO, { restores: true, lostEvents: 1, doubles: 1, others: 1 }, 1_000],
  [TWO, { restores: true, losses: 1 }, 1_500],
  [TWO, { restores: true, crashes: 1 }, 3_000],
  [WITHDRAWN, { patient: true, losses: 1 }, 3_000],
  [SUSPENDED, {}, 650],
  [SUSPENDED, { lostEvents: 1 }, 1_100],
]

/** Ten seconds each: in a long run and without test/run.ts, and one by the seed where lines are counted, as in CI. */
const LARGER: Searched = [
  [SUSPENDED, { crashes: 1 }, 20_000],
  [SUSPENDED_TWO, { lostEvents: 1 }, 9_000],
]

/** Minutes, in a long run. */
const LONG: Searched = [
  [THREE, { others: 1 }, 3_000],
  [TWO, { freezes: 1 }, 30_000],
  [TWO, { holds: 1 }, 8_000],
  [ONE, { crashes: 1, freezes: 1 }, 25_000],
  [THREE, { crashes: 1 }, 60_000],
  [THREE, { losses: 1 }, 30_000],
  [THREE, { doubles: 1 }, 6_000],
  [TWO, { losses: 2 }, 20_000],
  [SUSPENDED, { crashes: 1, others: 1 }, 150_000],
  [SUSPENDED_TWO, { crashes: 1 }, 250_000],
  [SUSPENDED_TWO, { restores: true, crashes: 1 }, 250_000],
  [SUSPENDED_TWO, { restores: true, losses: 1 }, 100_000],
  [SUSPENDED, { freezes: 1 }, 160_000],
  [SUSPENDED, { losses: 1 }, 10_000],
  [['create', 'spec', 'back'], { patient: true, losses: 1, crashes: 1 }, 25_000],
  [['create', 'request', 'withdraw', 'back'], { patient: true, losses: 2 }, 20_000],
  [TWO, { crashes: 1, others: 1 }, 30_000],
  [TWO, { restores: true, losses: 1, crashes: 1 }, 80_000],
]
const drawn = [
  ...sample(COMPLETE, (one) => String(Math.floor(COMPLETE.indexOf(one) / 3))),
  ...(process.env[SEED] === undefined || isCounted() || isLong() ? sample(LARGER, () => 'larger') : []),
]

// The states of the programs are the same for all of them.
const states = makeLocalStates()
const sound = makeSystem(makePods(states, SOUND))

for (const [asks, faults, atLeast] of [...drawn, ...(isLong() ? LONG : [])]) {
  const title = `${asks.join(', ')}; ${JSON.stringify(faults)}`
  t.test(`every order keeps the promises: ${title}`, { timeout: 1_200_000 }, async (t) => {
    const bounds = { ...NO_FAULTS, ...faults, asks }
    const found = await searchAll(sound, bounds)
    t.comment(`${found.states} states, ${found.steps} steps, ${found.ends} ends`)
    t.equal(lineOf(found, { settings: SOUND, bounds }), undefined)
    t.ok(found.states >= atLeast, `${found.states} states`)
    t.ok(found.ends > 0)
  })
}

t.test('every order keeps the promises where the clocks of both functions differ', async (t) => {
  const settings = { ...SOUND, clocksDiffer: true }
  const [asks, atLeast] = isLong() ? [TWO, 6_000] : [ONE, 1]
  const bounds = { ...NO_FAULTS, crashes: 1, asks }
  const found = await searchAll(makeSystem(makePods(makeLocalStates(), settings)), bounds)
  t.equal(lineOf(found, { settings, bounds }), undefined)
  t.ok(found.states > atLeast, `${found.states} states`)
})

const BROKEN: readonly (readonly [
  breakage: Breakage,
  asks: Bounds['asks'],
  faults: Faults,
  promise: RegExp,
])[] = [
  ['no history search', ONE, { crashes: 1, others: 1 }, /^two commits for u1\.1$/],
  ['claim without resourceVersion', TWO, {}, /older generation/],
  ['late pushes forgotten', TWO, { restores: true, losses: 1 }, /^old content after new/],
  ['claim not confirmed', ONE, { freezes: 1, others: 1 }, /^two commits for u1\.1$/],
]

for (const [breakage, asks, faults, promise] of sample(BROKEN, () => 'a breakage')) {
  t.test(`what is broken is caught: ${breakage}`, async (t) => {
    const settings = { ...SOUND, breakage }
    const bounds = { ...NO_FAULTS, ...faults, asks }
    const found = await searchAll(makeSystem(makePods(makeLocalStates(), settings)), bounds)
    const line = lineOf(found, { settings, bounds }) ?? ''
    t.match(found.broken?.promise, promise)
    t.test('and its printed schedule breaks the same promise again', async (t) => {
      t.equal(await replay(readSchedule(line)), found.broken?.promise)
    })
    t.test('and what is not broken keeps it in as many steps of it as there are', async (t) => {
      const other = { ...readSchedule(line), settings: SOUND }
      const end = await replay(other).catch((error: unknown) => String(error))
      t.notMatch(end, promise)
    })
  })
}

/** The schedule that breaks a promise, as a line; undefined: there is none. */
function lineOf({ broken }: Found, { settings, bounds }: Omit<Schedule, 'steps'>): string | undefined {
  return broken && printed({ settings, bounds, steps: broken.schedule })
}
