import t from 'tap'
import { openFairCache } from '../../../functions/domain/sharing/fair-cache.ts'

/** A cache with room for four numbers, and which of these keys it has. */
function stage() {
  const cache = openFairCache<number>(4)
  let next = 0
  const set = (owner: string, ...keys: string[]): void => {
    for (const key of keys) cache.set(owner, key, (next += 1))
  }
  return { ...cache, set }
}

t.test('a value is kept, replaced and forgotten, and nobody else forgets its successor', async (t) => {
  const { get, set, forget } = stage()
  t.equal(get('a', 'x'), undefined)
  set('a', 'x')
  t.equal(get('a', 'x'), 1)
  set('b', 'x')
  t.equal(get('a', 'x'), 2)
  forget('x', 1)
  t.equal(get('a', 'x'), 2)
  forget('x', 2)
  t.equal(get('a', 'x'), undefined)
  forget('x', 2)
})

t.test('who has the most loses the one that it used least recently, and others none', async (t) => {
  const { get, set } = stage()
  set('a', 'a1')
  set('b', 'b1', 'b2', 'b3')
  t.ok(get('b', 'b1'))
  set('b', 'b4', 'b5')
  const kept = ['a1', 'b1', 'b2', 'b3', 'b4', 'b5'].filter((key) => get(key.slice(0, 1), key) !== undefined)
  t.same(kept, ['a1', 'b1', 'b4', 'b5'])
})

t.test('of owners with one value each, a new one finds room', async (t) => {
  const { get, set } = stage()
  for (const owner of ['a', 'b', 'c', 'd', 'e']) set(owner, owner)
  t.same(
    ['a', 'b', 'c', 'd', 'e'].filter((key) => get(key, key) !== undefined),
    ['b', 'c', 'd', 'e'],
  )
})

t.test('who has more takes over no value of others by using it', async (t) => {
  const { get, set } = stage()
  set('quiet', 'q1')
  set('loud', 'l1', 'l2')
  t.ok(get('loud', 'q1'))
  set('loud', 'q1')
  set('loud', 'l3', 'l4', 'l5')
  t.ok(get('quiet', 'q1'))
})

t.test('values count by their size, and one that is too large is not kept', async (t) => {
  const { get, set } = openFairCache<string>(10, (value, key) => value.length + key.length)
  set('quiet', 'q', 'xx')
  set('loud', 'a', 'xx')
  set('loud', 'b', 'xxxx')
  set('loud', 'c', 'xxxxxxxxxx')
  t.strictSame(
    ['q', 'a', 'b', 'c'].map((key) => get('quiet', key)),
    ['xx', undefined, 'xxxx', undefined],
  )
})

t.test('a value counts to the owner that has used it last', async (t) => {
  const { get, set } = stage()
  set('loud', 'shared', 'l1', 'l2')
  t.ok(get('quiet', 'shared'))
  set('loud', 'l3', 'l4', 'l5', 'l6')
  t.ok(get('quiet', 'shared'))
})
