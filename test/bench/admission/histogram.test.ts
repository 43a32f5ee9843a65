import t from 'tap'
import { quantile, readHistogram, shareWithin, since, together } from '../../../bench/admission/histogram.ts'

const TEXT = `# HELP wait_seconds [STABLE] A wait.
# TYPE wait_seconds histogram
wait_seconds_bucket{name="mutate.commitlet.dev",operation="CREATE",rejected="false",type="admit",le="0.005"} 90
wait_seconds_bucket{name="mutate.commitlet.dev",operation="CREATE",rejected="false",type="admit",le="0.025"} 100
wait_seconds_bucket{name="mutate.commitlet.dev",operation="CREATE",rejected="false",type="admit",le="+Inf"} 100
wait_seconds_sum{name="mutate.commitlet.dev",operation="CREATE",rejected="false",type="admit"} 0.4
wait_seconds_count{name="mutate.commitlet.dev",operation="CREATE",rejected="false",type="admit"} 100
wait_seconds_bucket{name="mutate.commitlet.dev",operation="UPDATE",rejected="true",type="admit",le="0.005"} 0
wait_seconds_bucket{name="mutate.commitlet.dev",operation="UPDATE",rejected="true",type="admit",le="0.025"} 0
wait_seconds_bucket{name="mutate.commitlet.dev",operation="UPDATE",rejected="true",type="admit",le="+Inf"} 1
wait_seconds_sum{name="mutate.commitlet.dev",operation="UPDATE",rejected="true",type="admit"} 3
wait_seconds_count{name="mutate.commitlet.dev",operation="UPDATE",rejected="true",type="admit"} 1
wait_seconds_bucket{name="mutate.example.com",operation="CREATE",rejected="false",type="admit",le="0.005"} 7
wait_seconds_bucket_total{name="mutate.commitlet.dev",le="0.005"} 7
`

const INFINITE = Number.POSITIVE_INFINITY

function of(first: number, second: number, all: number): Parameters<typeof quantile>[0] {
  const buckets = new Map([
    [0.005, first],
    [0.025, second],
    [INFINITE, all],
  ])
  return { buckets, sum: all * 0.01, count: all }
}

t.test('the series of one webhook are added up, and no other counts', async (t) => {
  const { buckets, sum, count } = readHistogram(TEXT, 'wait_seconds', 'mutate.commitlet.dev')
  t.same(
    [...buckets],
    [
      [0.005, 90],
      [0.025, 100],
      [INFINITE, 101],
    ],
  )
  t.same([sum, count], [3.4, 101])
  t.equal(readHistogram(TEXT, 'wait_seconds', 'validate.commitlet.dev').count, 0)
})

t.test('a quantile lies on the line through its bucket', async (t) => {
  const cases: readonly (readonly [ReturnType<typeof of>, number, number])[] = [
    [of(50, 100, 100), 0.5, 0.005],
    [of(50, 100, 100), 0.75, 0.015],
    [of(50, 100, 100), 0.25, 0.0025],
    [of(50, 60, 100), 0.99, 0.025],
  ]
  for (const [histogram, share, expected] of cases) t.equal(quantile(histogram, share), expected)
  t.ok(Number.isNaN(quantile(readHistogram('', 'wait_seconds', 'none'), 0.99)))
})

t.test('only what came between two readings counts, and several such periods together', async (t) => {
  const between = since(of(10, 20, 20), of(30, 60, 80))
  t.same([...between.buckets.values()], [20, 40, 60])
  t.equal(between.count, 60)
  const both = together(between, since(readHistogram('', 'wait_seconds', 'none'), of(1, 2, 3)))
  t.same([...both.buckets.values()], [21, 42, 63])
  t.equal(both.count, 63)
  t.equal(shareWithin(both, 0.005), 21 / 63)
})
