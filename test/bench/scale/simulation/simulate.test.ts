import t from 'tap'
import { SHIPPED } from '../../../../bench/scale/installations.ts'
import { burst, sharedBranch, stream } from '../../../../bench/scale/simulation/loads.ts'
import { distance, MEASURED_POINTS, type Compared } from '../../../../bench/scale/measured-points.ts'
import { simulate, type Installation } from '../../../../bench/scale/simulation/simulate.ts'

const TWO_PODS: Installation = { ...SHIPPED, scaling: { ...SHIPPED.scaling, minScale: 2, maxScale: 2 } }
/** The factor by which an outcome may differ. Five to eight pushes are the only ones that are off by more than 1.5. */
const MOST_OFF: Readonly<Record<Compared, number>> = {
  seconds: 1.5,
  mostPods: 1,
  pushes: 2.2,
  lostRaces: 1.4,
  gitRequests: 1.4,
}

for (const { name, installation, load, measured } of MEASURED_POINTS) {
  t.test(`as measured: ${name}`, async (t) => {
    const outcome = simulate(installation, load, 1)
    t.equal(outcome.commits, load.length)
    for (const compared of ['seconds', 'mostPods', 'pushes', 'lostRaces', 'gitRequests'] as const) {
      const range = measured[compared]
      if (range === undefined) continue
      const off = distance(outcome, compared, range)
      t.ok(off <= MOST_OFF[compared], `${compared}: ${outcome[compared]}, measured ${range.join(' to ')}`)
    }
  })
}

t.test('the same seed has the same outcome, another one another', async (t) => {
  const run = (seed: number) => simulate(TWO_PODS, burst(10, 20), seed)
  t.strictSame(run(1), run(1))
  t.strictNotSame(run(1), run(3))
})

t.test(
  'with the shipped settings, a burst for one branch stays in one pod, and those of ten namespaces spread',
  async (t) => {
    const one = simulate(SHIPPED, burst(1, 1_000), 1)
    t.match(one, { commits: 1_000, mostPods: 1, lostRaces: 0 })
    t.ok(one.pushes <= 40, `${one.pushes} pushes`)
    const ten = simulate(SHIPPED, burst(10, 100), 1)
    t.equal(ten.commits, 1_000)
    t.ok(ten.mostPods >= 2, `${ten.mostPods} pods`)
  },
)

t.test('every commit lands, whatever is in between and whoever else pushes', async (t) => {
  const cases: Readonly<Record<string, Installation>> = {
    'two pods': TWO_PODS,
    ordered: { ...TWO_PODS, broker: { order: 'ordered', partitions: 3 } },
    unordered: { ...TWO_PODS, broker: { order: 'unordered', partitions: 3 } },
    'a host that refuses': { ...SHIPPED, host: { ...SHIPPED.host, pushesPerMinute: 2 } },
  }
  for (const [name, installation] of Object.entries(cases)) {
    const { commits, pushes, lostRaces, refusedPushes, apiWrites } = simulate(
      installation,
      sharedBranch(4, 30),
      1,
    )
    t.equal(commits, 120, name)
    t.ok(pushes > lostRaces + refusedPushes, name)
    // Stored, claimed, ended, and an Event.
    t.ok(apiWrites >= 4 * commits, `${name}: ${apiWrites} writes`)
  }
})

t.test('one push is in flight for a branch: what arrives meanwhile shares the next', async (t) => {
  const { pushes, lostRaces } = simulate(SHIPPED, burst(1, 200), 1)
  t.ok(pushes < 10, `${pushes} pushes`)
  t.equal(lostRaces, 0)
})

t.test('an ordered Broker makes one push for each commit of a branch, and no two at once', async (t) => {
  const broker = { order: 'ordered', partitions: 10 } as const
  const { pushes, lostRaces, oldTips } = simulate({ ...TWO_PODS, broker }, burst(1, 50), 1)
  t.equal(pushes - lostRaces, 50)
  t.equal(lostRaces, oldTips, 'a pod only remembers an old tip')
})

t.test('a host that takes few pushes refuses the rest until the next minute', async (t) => {
  const limited = { ...SHIPPED, host: { ...SHIPPED.host, pushesPerMinute: 2 } }
  const { seconds, refusedPushes } = simulate(limited, burst(1, 200), 1)
  t.ok(refusedPushes > 0)
  t.ok(seconds > 60, `${seconds} s`)
})

t.test('a stream has the number of arrivals that its rate says, in their order', async (t) => {
  const load = stream({ perHour: 10_000, minutes: 6, namespaces: 5, branches: 10, seed: 1 })
  t.ok(load.length > 900 && load.length < 1_100, `${load.length}`)
  t.strictSame(
    load.map(({ at }) => at),
    load.map(({ at }) => at).toSorted((a, b) => a - b),
  )
  t.equal(new Set(load.map(({ branch }) => branch)).size, 10)
})
