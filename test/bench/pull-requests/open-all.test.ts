import t from 'tap'
import { openAll } from '../../../bench/pull-requests/open-all.ts'

const SIZE = { resources: 40, repositories: 4, limit: { kind: 'primary', most: 10 } } as const

t.test('many pull requests under a limit are all opened, once, with at most 4 requests each', async (t) => {
  const { opened, doubles, lost, requests, refused, virtualSeconds, violations } = await openAll({
    ...SIZE,
    waitsForLimits: true,
  })
  t.match({ opened, doubles, lost }, { opened: SIZE.resources, doubles: 0, lost: 0 })
  t.ok(requests <= 4 * opened, `${requests} requests`)
  t.ok(refused > 0, 'the limit was reached')
  t.ok(virtualSeconds > 7 * 60, `the limit holds: two requests each take 8 windows, not ${virtualSeconds} s`)
  t.same(violations, [])
})

t.test('without remembered limits the benchmark counts more requests', async (t) => {
  const { opened, requests } = await openAll({ ...SIZE, waitsForLimits: false })
  t.equal(opened, SIZE.resources)
  t.ok(requests > 4 * opened, `${requests} requests`)
})
