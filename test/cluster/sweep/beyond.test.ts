import t from 'tap'
import { makeBeyond } from '../../../functions/cluster/sweep/beyond.ts'
import type { ListedResource } from '../../../functions/cluster/cluster.ts'

function rowOf(namespace: string, name: string): ListedResource {
  const ref = { kind: 'GitCommit', namespace, name, uid: name, generation: 1 } as const
  return { ref, weight: 1, deleting: false, observedGeneration: 1 } as ListedResource
}

t.test('what waits is taken in turns of its namespaces, twenty of each at most, and once', async (t) => {
  const { add, inTurns } = makeBeyond()
  for (let count = 0; count < 20; count += 1) t.ok(add(rowOf('many', `many-${count}`)))
  t.notOk(add(rowOf('many', 'one more')))
  t.ok(add(rowOf('shop', 'a')))
  t.ok(add(rowOf('shop', 'b')))
  const names = [...inTurns()].map(({ ref }) => ref.name)
  t.same(names.slice(0, 5), ['many-0', 'a', 'many-1', 'b', 'many-2'])
  t.equal(names.length, 22)
  t.same([...inTurns()], [])
  t.ok(add(rowOf('many', 'again')))
})

t.test('ten thousand are kept, however many namespaces there are', async (t) => {
  const { add, inTurns } = makeBeyond()
  const kept = Array.from({ length: 10_100 }, (_, index) => add(rowOf(`team-${index}`, 'a')))
  t.equal(kept.filter(Boolean).length, 10_000)
  t.equal([...inTurns()].length, 10_000)
})
