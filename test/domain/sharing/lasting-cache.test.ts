import t from 'tap'
import { openLastingCache } from '../../../functions/domain/sharing/lasting-cache.ts'

t.test('a value lasts for its time after it was set, and not after it is forgotten', async (t) => {
  let now = 0
  const cache = openLastingCache<string>(10, 1_000, () => now)
  cache.set('team', 'a', 'one')
  cache.set('team', 'b', 'two')
  now = 999
  t.equal(cache.get('team', 'a'), 'one')
  cache.set('team', 'a', 'other')
  cache.forget('team', 'b')
  t.equal(cache.get('team', 'b'), undefined)
  now = 1_998
  t.equal(cache.get('team', 'a'), 'other')
  now = 1_999
  t.equal(cache.get('team', 'a'), undefined)
})

t.test('beyond its size, the owner that has the most loses its own', async (t) => {
  const cache = openLastingCache<number>(3, 1_000, () => 0)
  cache.set('few', 'x', 1)
  for (let i = 0; i < 5; i += 1) cache.set('many', String(i), i)
  t.equal(cache.get('few', 'x'), 1)
  t.equal(cache.get('many', '0'), undefined)
  t.equal(cache.get('many', '4'), 4)
})
