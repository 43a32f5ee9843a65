import t from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import { sample, SEED, sized } from '../harness/sample.ts'
import { allKinds, readOptions } from './options.ts'
import { runFaults } from './run.ts'
import { KINDS, scheduleOf, type Sizes } from './schedule.ts'

/** What is promised for what a killed process had in hand, and here for all. */
const HOME_SECONDS = 60
const RUNS: Readonly<Record<string, Sizes>> = {
  'everything fails': {
    ...{ commits: sized(20, 300), pullRequests: sized(5, 60) },
    ...{ faults: sized(8, 30), kinds: allKinds(), repositories: sized(2, 10) },
  },
  'the function is killed three times': {
    ...{ commits: sized(20, 120), pullRequests: 0 },
    ...{ faults: 3, kinds: ['function killed'], repositories: sized(2, 10) },
  },
}

t.test('a seed draws the same faults again, and each kind in its turn', async (t) => {
  const sizes = {
    commits: 90,
    pullRequests: 10,
    faults: 2 * allKinds().length,
    kinds: allKinds(),
    repositories: 3,
  }
  t.strictSame(scheduleOf('a', sizes), scheduleOf('a', sizes))
  t.notSame(scheduleOf('a', sizes), scheduleOf('b', sizes))
  const places = scheduleOf('a', sizes).map(({ fault }) => fault.at)
  for (const at of ['function', 'webhook', 'etcd', 'branch'])
    t.equal(places.filter((place) => place === at).length, 2, at)
  t.equal(Object.keys(KINDS).length, allKinds().length)
})

t.test('options are read, and what is not known is refused', async (t) => {
  t.match(readOptions(['--commits=5', '--seed=x']), { seed: 'x', sizes: { commits: 5, pullRequests: 200 } })
  for (const arg of ['--commits=x', '--faults=-1', '--other', '--seed='])
    t.equal(readOptions([arg]), undefined, arg)
})

for (const [title, sizes] of sample(Object.entries(RUNS), () => 'run'))
  withControlPlane(
    t,
    (t, plane) =>
      void t.test(`${title}: all resources succeed, each exactly once, and soon`, async (t) => {
        const seed = process.env[SEED] ?? 'faults'
        const run = await runFaults(t, plane, { seed, sizes, say: (line) => t.comment(line) })
        t.strictSame(run.findings, [])
        const seconds = run.secondsAfterLastFault
        t.ok(seconds < HOME_SECONDS, `all succeeded ${seconds.toFixed(1)} s after the last fault`)
        t.comment(`all succeeded ${seconds.toFixed(1)} s after the last fault`)
      }),
    { own: true },
  )
