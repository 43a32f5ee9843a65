import t from 'tap'
import { BOUNDS, judge } from '../../../bench/bounds.ts'
import type { Ratio } from '../../../bench/ratios/ratio.ts'
import { ratiosOf } from '../../../bench/ratios/ratios.ts'
import { FULL, SHORT } from '../../../bench/plan.ts'
import { RECORDED, readResults, type Results } from '../../../bench/results.ts'
import { spread } from '../../../bench/statistics.ts'
import { burst, commitCase, resultsOf } from '../results.ts'

function ratioIn(results: Results, id: string): Ratio | undefined {
  return ratiosOf(results).find((ratio) => ratio.id === id)
}

t.test('a commit is compared with the others of its case, by the medians', async (t) => {
  const results = resultsOf({
    commits: [commitCase({ files: 1, roundTripMs: 0 }, { warm: [30, 40, 50], shallow: [400] })],
  })
  t.match(ratioIn(results, 'commit/files-1/warm-shallow'), { value: 40, base: 400, ratio: 0.1, best: 0.075 })
  t.match(ratioIn(results, 'commit/files-1/warm-floor'), { value: 40, base: 20, ratio: 2 })
  t.equal(ratioIn(results, 'commit/files-1/warm-clone'), undefined, 'what was not measured is not compared')
})

t.test(
  'the floor of a distant server is the time at 0 ms and all round trips, handshakes included',
  async (t) => {
    const near = commitCase({ files: 10_000, roundTripMs: 0 }, { cold: [100] })
    const far = commitCase({ files: 10_000, roundTripMs: 30 }, { cold: [310] })
    const results = resultsOf({ commits: [near, far] })
    // Three requests, and two round trips for the connection, of 31 ms as measured.
    t.match(ratioIn(results, 'commit/rtt-30/cold-floor'), { value: 310, base: 100 + 5 * 31 })
    t.equal(ratioIn(resultsOf({ commits: [far] }), 'commit/rtt-30/cold-floor'), undefined)
  },
)

t.test('a burst is compared with the same GitCommits one after the other', async (t) => {
  const bursts = [burst({ p50: 50 }), burst({ commits: 100, seconds: spread([2]), pushes: 0.1 })]
  t.match(ratioIn(resultsOf({ bursts }), 'burst/100-on-1/time'), { value: 2, base: 5, ratio: 0.4 })
  t.match(ratioIn(resultsOf({ bursts }), 'burst/100-on-1/pushes'), { ratio: 0.1 })
})

t.test('replicas are compared with one, on as many branches', async (t) => {
  const replicas = [1, 2].flatMap((count) =>
    [1, 100].map((branches) =>
      burst({ commits: 200, branches, replicas: count, seconds: spread([count * branches]) }),
    ),
  )
  t.match(ratioIn(resultsOf({ replicas }), 'replicas/2-200-on-100'), { value: 200, base: 100, ratio: 2 })
})

const ID = 'commit/files-10000/warm-binary'
const MOST = BOUNDS[ID]?.most ?? 0

function judged(warm: readonly number[]): readonly string[] {
  const commits = [commitCase({ files: 10_000, roundTripMs: 0 }, { warm, binary: [100] })]
  const results = resultsOf({ commits })
  return judge(
    ratiosOf(results).filter(({ id }) => id === ID),
    results,
  ).ids
}

t.test('a ratio above its bound is behind it, unless the better quartile is within', async (t) => {
  const [within, above] = [MOST * 90, MOST * 120]
  t.same(judged([within]), [])
  t.same(judged([above]), [ID])
  t.same(judged([within, above, above, above]), [], 'noise')
})

t.test('a lost or doubled commit is behind, whatever the ratios', async (t) => {
  for (const wrong of [{ lost: 1 }, { doubled: 1 }]) {
    t.equal(judge([], resultsOf({ bursts: [burst(wrong)] })).sentences.length, 1)
    t.equal(judge([], resultsOf({ replicas: [burst(wrong)] })).sentences.length, 1)
  }
  t.same(judge([], resultsOf({ bursts: [burst({})] })).sentences, [])
})

t.test('each bound is of a ratio that the recorded run has, and holds there', async (t) => {
  const results = await readResults(RECORDED)
  const ratios = ratiosOf(results)
  for (const id of Object.keys(BOUNDS))
    t.ok(
      ratios.some((ratio) => ratio.id === id),
      id,
    )
  t.same(judge(ratios, results).sentences, [])
})

t.test('the short form measures cases of the full one, so that bounds hold for both', async (t) => {
  for (const { size, roundTripMs } of SHORT.commits)
    t.ok(FULL.commits.some((plan) => plan.size === size && plan.roundTripMs === roundTripMs))
  const cases = (plans: typeof FULL.bursts): readonly string[] =>
    plans.map((plan) => JSON.stringify({ ...plan, repeats: 0 }))
  const full = cases([...FULL.bursts, ...FULL.replicas])
  for (const plan of cases([...SHORT.bursts, ...SHORT.replicas])) t.ok(full.includes(plan), plan)
})
