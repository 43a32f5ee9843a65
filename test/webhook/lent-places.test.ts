import t from 'tap'
import { lendPlaces } from '../../webhook/lent-places.ts'

/** 480 places, of which an address may hold 240, a namespace alone there 120, and each of the next ones ten. */
function start() {
  const clock = { now: 0 }
  const places = lendPlaces(480, { heldMs: 1_000, elapsed: () => clock.now })
  const given: string[] = []
  const enter = (address: string, own: string, count: number) =>
    places.enter([address, `${address} ${own}`], { count, giveUp: () => given.push(`${own} ${count}`) })
  return { places, clock, given, enter }
}

t.test(
  'whoever holds most gives way to a namespace with less, with the last that it has taken',
  async (t) => {
    const { places, given, enter } = start()
    t.ok(places.hasRoom())
    for (const count of [30, 31, 32]) t.ok(enter('a', 'hostile', count))
    t.ok(enter('a', 'other', 15))
    t.equal(enter('a', 'hostile', 30), undefined, 'not to itself')
    t.same(given, [])
    const leave = enter('a', 'shop', 30)
    t.ok(leave)
    t.same(given, ['hostile 32'], 'no more than needed')
    leave?.()
    leave?.()
    t.ok(enter('a', 'shop', 30))
    t.same(given, ['hostile 32'])
  },
)

t.test('what is the only one of its namespace has its time first', async (t) => {
  const { clock, given, enter } = start()
  for (const own of ['one', 'two', 'three']) t.ok(enter('a', own, 35))
  clock.now = 999
  t.equal(enter('a', 'shop', 30), undefined)
  t.same(given, [])
  clock.now = 1_000
  t.equal(enter('a', 'shop', 35), undefined, 'not to one who would hold as much')
  t.ok(enter('a', 'shop', 30))
  t.same(given, ['three 35'])
})

t.test('nobody gives way to one who comes from another address', async (t) => {
  const { clock, given, enter } = start()
  for (const count of [40, 80]) t.ok(enter('a', 'one', count))
  t.ok(enter('b', 'two', 60))
  clock.now = 5_000
  t.equal(enter('b', 'three', 100), undefined)
  t.same(given, [])
})

t.test('what has been given back gives way to nobody', async (t) => {
  const { clock, given, enter } = start()
  const leave = enter('a', 'hostile', 100)
  clock.now = 2_000
  leave?.()
  t.ok(enter('a', 'hostile', 100))
  t.equal(enter('a', 'shop', 40), undefined)
  t.same(given, [])
})
