import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { openFairQueue } from '../../../functions/domain/sharing/fair-queue.ts'
import { CALLS, countWithCredit } from '../../../functions/domain/sharing/taken-time.ts'
import type { Rank } from '../../../functions/domain/sharing/waiting-line.ts'

const NEVER = new AbortController().signal

t.test('there are so many places, and whoever is first in rank gets the next', async (t) => {
  const waits: string[] = []
  const queue = openFairQueue(2, { elapsed: () => 0, waits: () => waits.push('waits') })
  const order: string[] = []
  const enter = (owner: string, name: string, rank?: Rank) =>
    queue.enter(owner, NEVER, rank).then((release) => (order.push(name), release))
  const [one, two] = await Promise.all([enter('a', '1'), enter('a', '2')])
  t.equal(queue.hasRoom(), false)
  t.equal(waits.length, 0)
  const rest = [
    enter('a', 'last'),
    enter('b', 'other'),
    enter('a', 'before', 'first of its owner'),
    enter('b', 'first', 'first'),
  ]
  t.equal(waits.length, 4)
  t.equal(queue.othersWait('a'), true)
  one()
  one()
  await setImmediate()
  t.strictSame(order, ['1', '2', 'first'], 'a place is given back once')
  two()
  await Promise.all(rest.map(async (entered) => (await entered)()))
  t.strictSame(order, ['1', '2', 'first', 'before', 'other', 'last'])
  t.equal(queue.hasRoom(), true)
})

t.test('only those of other owners count as others', async (t) => {
  const queue = openFairQueue(1, { elapsed: () => 0 })
  const release = await queue.enter('a', NEVER)
  const own = queue.enter('a', NEVER)
  t.equal(queue.othersWait('a'), false)
  t.equal(queue.othersWait('b'), true)
  release()
  ;(await own)()
  t.equal(queue.othersWait('b'), false)
})

t.test('next is who has taken the least time, of both places together', async (t) => {
  let now = 0
  const queue = openFairQueue(2, { elapsed: () => now })
  const [one, two] = await Promise.all([queue.enter('a', NEVER), queue.enter('a', NEVER)])
  const order: string[] = []
  const rest = ['a', 'a', 'b', 'b', 'b'].map((owner) =>
    queue.enter(owner, NEVER).then((release) => (order.push(owner), release)),
  )
  now = 5_000
  one()
  two()
  await Promise.all(rest.map(async (entered) => (await entered)()))
  t.equal(order.join(''), 'bbbaa')
})

t.test(
  'of those who come before all, one has a place at a time, and the next is for who has taken the least',
  async (t) => {
    let now = 0
    const queue = openFairQueue(2, { elapsed: () => now })
    const held = await Promise.all([queue.enter('a', NEVER), queue.enter('b', NEVER)])
    now = 5_000
    const order: string[] = []
    const enter = async (owner: string, rank?: Rank): Promise<() => void> => {
      const leave = await queue.enter(owner, NEVER, rank)
      order.push(owner)
      return leave
    }
    for (const leave of held) leave()
    const others = await Promise.all([queue.enter('x', NEVER), queue.enter('y', NEVER)])
    const [a, b] = [enter('a', 'first'), enter('b', 'first')]
    const [c, d] = [enter('c'), enter('d')]
    for (const leave of others) leave()
    const first = await a
    ;(await c)()
    await setImmediate()
    t.equal(order.join(''), 'acd')
    t.equal(queue.mayGoOn('d'), true)
    first()
    ;(await b)()
    ;(await d)()
    t.equal(order.join(''), 'acdb')
  },
)

t.test('who comes before all is known by what it has taken, and so are the others', async (t) => {
  let now = 0
  const queue = openFairQueue(1, { elapsed: () => now, taken: countWithCredit(CALLS) })
  const order: string[] = []
  const take = async (owner: string, milliseconds: number, rank?: Rank): Promise<void> => {
    const leave = await queue.enter(owner, NEVER, rank)
    order.push(owner)
    now += milliseconds
    leave()
  }
  await Promise.all([take('a', 8_000), take('b', 2_000)])
  await Promise.all([take('c', 100), take('b', 100), take('d', 100), take('a', 100, 'first')])
  t.equal(order.join(''), 'abcadb')
})

t.test('whoever comes before a place is handed over may be the next', async (t) => {
  const given: (() => void)[] = []
  const queue = openFairQueue(1, { elapsed: () => 0, handOver: (next) => given.push(next) })
  const release = await queue.enter('a', NEVER)
  const order: string[] = []
  const enter = (name: string, rank?: Rank) =>
    queue.enter(name, NEVER, rank).then((leave) => (order.push(name), leave))
  const second = enter('b')
  release()
  const first = enter('c', 'first')
  await setImmediate()
  t.same([order, queue.hasRoom()], [[], false])
  given.shift()?.()
  ;(await first)()
  given.shift()?.()
  ;(await second)()
  given.shift()?.()
  t.same([order, queue.hasRoom()], [['c', 'b'], true])
})

t.test('an owner without a place gets the spare one while another has all others', async (t) => {
  const queue = openFairQueue(2, { elapsed: () => 0, spare: true })
  const order: string[] = []
  const enter = async (owner: string, rank?: Rank) => {
    const leave = await queue.enter(owner, NEVER, rank)
    order.push(owner)
    return leave
  }
  const [one, two] = await Promise.all([enter('a'), enter('a')])
  const own = enter('a', 'first')
  const spare = await enter('b')
  t.equal(order.join(''), 'aab', 'at once, and not those who have all')
  const [third, more] = [enter('c'), enter('b')]
  await setImmediate()
  t.equal(order.join(''), 'aab', 'there is one')
  spare()
  const another = await third
  t.equal(order.join(''), 'aabc', 'also when it comes back')
  one()
  await setImmediate()
  t.equal(order.join(''), 'aabc', 'it is no place more for those who have some')
  two()
  const next = await own
  another()
  ;(await more)()
  next()
  t.equal(order.join(''), 'aabcab')
  t.equal(queue.hasRoom(), true)
})

t.test('the spare place is for an owner who waits when another one gets all others', async (t) => {
  const queue = openFairQueue(2, { elapsed: () => 0, spare: true })
  const [a, b] = await Promise.all([queue.enter('a', NEVER), queue.enter('b', NEVER)])
  const own = queue.enter('a', NEVER)
  const third = queue.enter('c', NEVER)
  b()
  const all = await Promise.all([own, third])
  t.equal(queue.hasRoom(), false)
  for (const leave of [a, ...all]) leave()
  t.equal(queue.hasRoom(), true)
})

t.test('of the time for which a place was held may count less', async (t) => {
  let now = 0
  const queue = openFairQueue(1, { elapsed: () => now })
  const held = await queue.enter('a', NEVER)
  now = 60_000
  held(100)
  const last = await queue.enter('b', NEVER)
  now = 65_000
  last()
  const place = await queue.enter('c', NEVER)
  const order: string[] = []
  const rest = ['b', 'a'].map(async (owner) => {
    const release = await queue.enter(owner, NEVER)
    order.push(owner)
    release()
  })
  place()
  await Promise.all(rest)
  t.strictSame(order, ['a', 'b'])
})

t.test('a place that is lent is one more for an owner who has none, up to so many', async (t) => {
  const queue = openFairQueue(2, { elapsed: () => 0, most: 4 })
  const order: string[] = []
  const enter = async (owner: string) => {
    const leave = await queue.enter(owner, NEVER)
    order.push(owner)
    return leave
  }
  const [one, two] = await Promise.all([enter('a'), enter('b')])
  const waiting = ['a', 'c', 'd', 'e'].map(enter)
  one.lend()
  one.lend()
  await setImmediate()
  t.equal(order.join(''), 'abc', 'once, and not to those who have one')
  two.lend()
  await setImmediate()
  t.equal(order.join(''), 'abcd')
  const [own, c, d, e] = waiting
  ;(await d)?.lend()
  ;(await c)?.lend()
  await setImmediate()
  t.equal(order.join(''), 'abcd', 'there are no more')
  one()
  one.lend()
  await setImmediate()
  t.equal(order.join(''), 'abcda', 'its owner has none by then')
  for (const leave of [two, await c, await d]) leave?.()
  ;(await own)?.()
  ;(await e)?.()
  t.equal(order.join(''), 'abcdae')
  t.equal(queue.hasRoom(), true)
  const over = await enter('a')
  over()
  over.lend()
  const next = await Promise.all([enter('a'), enter('b')])
  t.equal(queue.hasRoom(), false)
  const last = enter('c')
  await setImmediate()
  t.equal(order.join(''), 'abcdaeaab', 'nothing that was lent is left')
  for (const leave of next) leave()
  ;(await last)()
})

t.test('who has taken much lately gets none that is lent', async (t) => {
  let now = 0
  const queue = openFairQueue(1, { elapsed: () => now, most: 3, taken: countWithCredit(CALLS) })
  const much = await queue.enter('much', NEVER)
  now = 12_000
  much()
  const held = await queue.enter('a', NEVER)
  const order: string[] = []
  const rest = ['much', 'b'].map((owner) =>
    queue.enter(owner, NEVER).then((leave) => (order.push(owner), leave)),
  )
  held.lend()
  ;(await rest[1])?.()
  await setImmediate()
  t.strictSame(order, ['b'])
  // A quarter of a second is free in each.
  now = 60_000
  const late = await queue.enter('b', NEVER).then((leave) => (order.push('b'), leave))
  late()
  await setImmediate()
  t.strictSame(order, ['b', 'b', 'much'])
  held()
  ;(await rest[0])?.()
})

t.test('with a place that is lent nobody goes on who would get none by now', async (t) => {
  let now = 0
  const queue = openFairQueue(1, { elapsed: () => now, most: 2 })
  const one = await queue.enter('a', NEVER)
  one.lend()
  const two = await queue.enter('b', NEVER)
  t.equal(queue.mayGoOn('b'), true)
  now = 2_000
  t.equal(queue.mayGoOn('b'), false)
  one()
  t.equal(queue.mayGoOn('b'), true, 'it is none more by now')
  two()
})
