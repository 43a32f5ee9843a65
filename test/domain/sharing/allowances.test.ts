import t from 'tap'
import { makeAllowances } from '../../../functions/domain/sharing/allowances.ts'

t.test('each owner has an allowance of their own, and one who has none yet is not known', (t) => {
  const allowances = makeAllowances(100, 10, () => 0)
  t.equal(allowances.known('a'), undefined)
  allowances.of('a').spend(30)
  t.equal(allowances.of('a').left(), 70)
  t.equal(allowances.known('a')?.left(), 70)
  t.equal(allowances.of('b').left(), 100)
  t.end()
})

t.test('beyond ten thousand owners the one that came first is forgotten', (t) => {
  const allowances = makeAllowances(100, 10, () => 0)
  for (let i = 0; i < 10_000; i += 1) allowances.of(`${i}`)
  t.ok(allowances.known('0'))
  allowances.of('one more')
  t.equal(allowances.known('0'), undefined)
  t.ok(allowances.known('1'))
  t.end()
})
