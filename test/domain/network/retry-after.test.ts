import t from 'tap'
import { readRetryAfter, retryAfterOf } from '../../../functions/domain/network/retry-after.ts'

const NOW = Date.parse('Sat, 21 Nov 2026 12:00:00 GMT')

for (const [field, seconds] of [
  ['77', 77],
  [' 0 ', 0],
  ['9'.repeat(400), Number.POSITIVE_INFINITY],
  ['Sat, 21 Nov 2026 12:01:00 GMT', 60],
  ['Saturday, 21-Nov-26 12:01:00 GMT', 60],
  ['Sat Nov 21 12:01:00 2026 GMT', 60],
  ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
  ['soon', undefined],
  ['-5', undefined],
  ['1e3', undefined],
  ['1.5', undefined],
  ['2026-11-21T12:01:00Z', undefined],
  ['', undefined],
] as const)
  t.test(`"${field.slice(0, 40)}" means ${seconds ?? 'nothing'}`, async (t) =>
    t.equal(readRetryAfter(field, NOW), seconds),
  )

t.test(
  'a fraction of a second counts as a whole one, and a date means nothing without a clock',
  async (t) => {
    t.equal(readRetryAfter('Sat, 21 Nov 2026 12:01:00 GMT', NOW + 1), 60)
    t.equal(readRetryAfter('Sat, 21 Nov 2026 12:01:00 GMT', Number.NaN), undefined)
    t.equal(readRetryAfter('5', Number.NaN), 5)
  },
)

t.test(
  'a date is compared with the clock of its answer, and with ours only where that tells no time',
  async (t) => {
    const retryAfter = 'Sat, 21 Nov 2026 12:01:00 GMT'
    const date = 'Sat, 21 Nov 2026 12:00:30 GMT'
    t.equal(retryAfterOf({ retryAfter, date }, NOW), 30)
    t.equal(retryAfterOf({ retryAfter, date: undefined }, NOW), 60)
    t.equal(retryAfterOf({ retryAfter, date: 'soon' }, NOW), 60)
    t.equal(retryAfterOf({ retryAfter: undefined, date }, NOW), undefined)
  },
)
