import t from 'tap'
import { openBudget } from '../../../functions/domain/network/budget.ts'

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
