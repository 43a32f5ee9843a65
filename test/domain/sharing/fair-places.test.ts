import t from 'tap'
import { openFairPlaces } from '../../../functions/domain/sharing/fair-places.ts'

/** Takes places until there are no more; returns how many. */
function fill(places: ReturnType<typeof openFairPlaces>, owner: string): number {
  let count = 0
  while (places.enter(owner) !== undefined) count += 1
  return count
}

t.test(
  'each owner gets half of what those before have left, and the next one always something',
  async (t) => {
    const places = openFairPlaces(1_280)
    t.same(
      ['a', 'b', 'c', 'd'].map((owner) => fill(places, owner)),
      [640, 320, 160, 80],
    )
    t.ok(places.hasRoom())
  },
)

t.test('an eighth is left for owners with few places, however many others there are', async (t) => {
  const places = openFairPlaces(1_280, 10)
  const counts = Array.from({ length: 10 }, (_, index) => fill(places, `owner-${index}`))
  t.same(counts, [640, 320, 160, 10, 10, 10, 10, 10, 10, 10])
  t.equal(fill(places, 'next'), 10)
})

t.test('owners who come together get the same', async (t) => {
  const places = openFairPlaces(100)
  const counts = new Map<string, number>()
  for (let i = 0; i < 1_000; i += 1) {
    const owner = `owner-${i % 4}`
    if (places.enter(owner) !== undefined) counts.set(owner, (counts.get(owner) ?? 0) + 1)
  }
  t.same([...counts.values()], [20, 20, 20, 20])
})

t.test('of several places at once none are taken unless all are free for the owner', async (t) => {
  const places = openFairPlaces(100)
  const leave = places.enter('a', 40)
  t.equal(places.enter('a', 30), undefined)
  t.ok(places.enter('a', 20))
  t.equal(places.enter('b', 41), undefined)
  t.ok(places.enter('b', 40))
  leave?.()
  leave?.()
  t.equal(places.enter('a', 21), undefined)
  t.ok(places.enter('a', 20))
})

t.test('who is counted with others gets no more than they leave together', async (t) => {
  const places = openFairPlaces(900)
  const at = (address: string, namespace: string) => {
    let count = 0
    while (places.enter([address, `${address} ${namespace}`]) !== undefined) count += 1
    return count
  }
  t.same([at('a', 'x'), at('a', 'y'), at('a', 'z')], [300, 100, 34])
  t.equal(at('b', 'x'), 156, 'however much those at another address hold')
  for (let index = 0; index < 100; index += 1) at('a', `made-up-${index}`)
  t.ok(places.enter(['b', 'b y']))
})

t.test('who holds nothing finds room, whatever others take after those of its address', async (t) => {
  const places = openFairPlaces(900)
  const at = (address: string, namespace: string) => places.enter([address, `${address} ${namespace}`])
  const fillAt = (address: string, names: (index: number) => string): number => {
    let count = 0
    while (at(address, names(count)) !== undefined) count += 1
    return count
  }
  t.equal(
    fillAt('a', () => 'x'),
    300,
  )
  t.equal(
    fillAt('b', (index) => `made-up-${index}`),
    333,
    'half of what was left, and of the rest what is for new ones',
  )
  const leave = at('a', 'y')
  t.ok(leave)
  t.equal(at('a', 'y'), undefined, 'one at a time')
  leave?.()
  t.ok(at('a', 'y'))
  t.equal(at('a', 'x'), undefined)
  fillAt('a', (index) => `made-up-${index}`)
  t.ok(at('c', 'x'))
})

t.test('a place that is left is free again, once', async (t) => {
  const places = openFairPlaces(2)
  const leave = places.enter('a')
  t.equal(places.enter('a'), undefined)
  leave?.()
  leave?.()
  t.ok(places.enter('a'))
  t.ok(places.enter('b'))
  t.notOk(places.hasRoom())
  t.equal(places.enter('c'), undefined)
})
