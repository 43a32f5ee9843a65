import t from 'tap'
import { median, percentile, table } from '../../bench/statistics.ts'

const HUNDRED = Array.from({ length: 100 }, (_, index) => 100 - index)

t.test('a percentile is a value that was measured', async (t) => {
  const cases: readonly (readonly [readonly number[], number, number])[] = [
    [HUNDRED, 99, 99],
    [HUNDRED, 100, 100],
    [HUNDRED, 50, 50],
    [HUNDRED, 0, 1],
    [[10, 9, 2], 50, 9],
    [[10, 9, 2], 99, 10],
    [[7], 1, 7],
  ]
  for (const [values, percent, expected] of cases) t.equal(percentile(values, percent), expected)
  t.ok(Number.isNaN(percentile([], 99)))
})

t.test('the median of an even number of values lies between the two in the middle', async (t) => {
  t.equal(median([10, 1, 3, 2]), 2.5)
  t.equal(median([10, 1, 3]), 3)
})

t.test('the columns of a table are as wide as their widest cell', async (t) => {
  t.equal(table(['', 'ms'], [['bare', '1.25']]), '        ms\nbare  1.25\n')
})
