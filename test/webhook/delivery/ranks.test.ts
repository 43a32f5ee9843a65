import fc from '../../harness/fast-check.ts'
import t from 'tap'
import { makeRanks } from '../../../webhook/delivery/ranks.ts'

t.test('the first of the lowest and of the highest rank, as a sorted list would say', async (t) => {
  const name = fc.constantFrom('a', 'b', 'c', 'd')
  const move = fc.tuple(name, fc.option(fc.nat({ max: 5 }), { nil: undefined }))
  fc.assert(
    fc.property(fc.array(move), fc.nat({ max: 7 }), (moves, limit) => {
      const ranks = makeRanks()
      let model: (readonly [string, number])[] = []
      for (const [name, rank] of moves) {
        ranks.move(name, rank)
        model = model.filter(([other]) => other !== name)
        if (rank !== undefined) model.push([name, rank])
      }
      const sorted = model.toSorted(([, one], [, other]) => one - other)
      const highest = sorted.find(([, rank]) => rank === sorted.at(-1)?.[1])
      const lowest = sorted.find(([, rank]) => rank < limit)
      return ranks.highest() === highest?.[0] && ranks.lowest(limit) === lowest?.[0]
    }),
  )
  t.equal(makeRanks().lowest(Infinity), undefined)
})
