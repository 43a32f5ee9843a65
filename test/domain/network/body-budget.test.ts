import t from 'tap'
import { announcedBytes, openBudget } from '../../../functions/domain/network/body-budget.ts'

t.test('room is reserved as asked for, and released once', async (t) => {
  const take = openBudget(100)
  const giveBack = take(60)
  t.equal(take(41), undefined)
  t.ok(take(40))
  t.equal(take(1), undefined)
  t.ok(take(0))
  giveBack?.()
  giveBack?.()
  t.ok(take(60))
  t.equal(take(1), undefined)
})

for (const [title, headers, bytes] of [
  ['a length is what it says', { 'content-length': '41' }, 41],
  ['no length counts as the largest there may be', { 'transfer-encoding': 'chunked' }, 60],
  ['no body counts nothing', {}, 0],
  ['a body that is too large to be read counts nothing', { 'content-length': '61' }, 0],
] as const) {
  t.test(title, async (t) => t.equal(announcedBytes(headers, 60), bytes))
}
