import t from 'tap'
import { makeRounds } from '../../../functions/domain/sharing/rounds.ts'

t.test('whoever adds one waits for one of each of the others', (t) => {
  const rounds = makeRounds<string>()
  t.ok(rounds.isEmpty())
  t.equal(rounds.next(), undefined)
  for (const one of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) rounds.add(one.slice(0, 1), one)
  t.notOk(rounds.isEmpty())
  const all = Array.from({ length: 6 }, () => rounds.next())
  t.strictSame(all, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  t.ok(rounds.isEmpty())
  t.end()
})

t.test('whoever has a lower rank comes first, and those of the same rank take turns', (t) => {
  const ranks = new Map([
    ['a', 2],
    ['b', 1],
    ['c', 1],
  ])
  const rounds = makeRounds<string>((owner) => ranks.get(owner) ?? 0)
  for (const one of ['a1', 'b1', 'b2', 'c1', 'c2', 'd1']) rounds.add(one.slice(0, 1), one)
  const all = Array.from({ length: 6 }, () => rounds.next())
  t.strictSame(all, ['d1', 'b1', 'c1', 'b2', 'c2', 'a1'])
  t.equal(rounds.next(), undefined)
  t.end()
})
