import t from 'tap'
import { openFairPlaces, type FairPlaces } from '../../../functions/domain/sharing/fair-places.ts'

/** Whole numbers below a bound, the same ones for a seed (xorshift). */
function drawing(seed: number): (bound: number) => number {
  let state = seed * 2_654_435_761
  return (bound) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % bound
  }
}

/** Takes places until there are no more; returns how many. */
function fill(places: FairPlaces, owner: string): number {
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

/** Takes places at an address until there are no more, larger ones first; returns how many. */
function fillAt(places: FairPlaces, address: string, name: string, largest = 1): number {
  let taken = 0
  for (let count = largest; count >= 1; count = Math.floor(count / 2))
    while (places.enter([address, `${address} ${name}`], count) !== undefined) taken += count
  return taken
}

t.test('of the part of an address a namespace alone gets half, and the next ones find some', async (t) => {
  const places = openFairPlaces(960)
  t.equal(fillAt(places, 'a', 'x'), 240)
  for (const name of ['y', 'z']) t.equal(fillAt(places, 'a', name), 20)
  t.equal(fillAt(places, 'b', 'x'), 170, 'however much those at another address hold')
  for (let index = 0; index < 100; index += 1) fillAt(places, 'a', `made-up-${index}`)
  t.ok(places.enter(['b', 'b y']))
})

for (const largest of [1, 200, 1_300, 3_000, 7_000])
  t.test(`ten at an address that take up to ${largest} at once leave room for others there`, async (t) => {
    const places = openFairPlaces(36_000)
    let hostile = 0
    for (let index = 0; index < 10; index += 1)
      hostile += fillAt(places, 'server', `hostile-${index}`, largest)
    t.ok(hostile <= 18_000 * (7 / 8), `${hostile} are held`)
    for (const name of ['eleventh', 'twelfth'])
      for (let count = 0; count < 5; count += 1) t.ok(places.enter(['server', `server ${name}`], 100), name)
    for (let index = 0; index < 10; index += 1) {
      t.equal(places.enter(['server', `server hostile-${index}`], 700), undefined)
      t.ok(places.enter(['server', `server small-${index}`], 10))
    }
  })

t.test('in whatever order ten at an address take what they get, others there find room', async (t) => {
  const failed: number[] = []
  for (let seed = 1; seed <= 200; seed += 1) {
    const places = openFairPlaces(36_000)
    const draw = drawing(seed)
    for (let index = 0; index < 500; index += 1) {
      const leave = places.enter(
        ['server', `server hostile-${draw(10)}`],
        1 + draw(draw(2) === 0 ? 7_000 : 700),
      )
      if (draw(4) === 0) leave?.()
    }
    const others = ['eleventh', 'twelfth'].flatMap((name) => Array.from({ length: 5 }, () => name))
    const refused = others.filter((name) => places.enter(['server', `server ${name}`], 100) === undefined)
    if (refused.length > 0) failed.push(seed)
  }
  t.same(failed, [], 'seeds')
})

t.test('whatever others take after those of an address, who has few there finds room', async (t) => {
  const places = openFairPlaces(96_000)
  t.equal(fillAt(places, 'a', 'x'), 24_000)
  for (let index = 0; index < 10; index += 1) fillAt(places, 'b', `made-up-${index}`)
  for (let index = 0; index < 4; index += 1) fillAt(places, `c-${index}`, 'x')
  for (const name of ['y', 'z']) {
    const leave = places.enter(['a', `a ${name}`])
    t.ok(leave)
    t.ok(places.enter(['a', `a ${name}`]), 'also who has one')
    leave?.()
  }
  t.equal(places.enter(['a', 'a x']), undefined)
  for (let index = 0; index < 10; index += 1) fillAt(places, 'a', `made-up-${index}`)
  t.ok(places.enter(['a', 'a new']), 'no single one takes what is for all of them')
  t.ok(places.enter(['d', 'd x']))
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
