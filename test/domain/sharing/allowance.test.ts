import t from 'tap'
import { makeAllowance } from '../../../functions/domain/sharing/allowance.ts'

t.test('what is spent comes back with time, up to what may be spent at once', async (t) => {
  let time = 0
  const { left, spend } = makeAllowance(10, 2, () => time)
  spend(4)
  t.equal(left(), 6)
  time += 1_000
  t.equal(left(), 8)
  time += 60_000
  t.equal(left(), 10)
})

t.test('more may be spent than is left, and an amount may be given back', async (t) => {
  let time = 0
  const { left, spend } = makeAllowance(10, 2, () => time)
  spend(12)
  t.equal(left(), -2)
  time += 1_500
  t.equal(left(), 1)
  spend(-3)
  t.equal(left(), 4)
  spend(-30)
  t.equal(left(), 10)
})
