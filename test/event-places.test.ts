import t from 'tap'
import { MOST_EVENTS, MOST_UNSIGNED, openEventPlaces } from '../functions/event-places.ts'
import type { Sender } from '../functions/event-places.ts'

/** As many bytes count as a read. */
const READ = 128 * 1024

/** Places in which each event is of another namespace. */
function open(signs: boolean, now: () => number) {
  let count = 0
  const { admits, take } = openEventPlaces(signs, now)
  return { admits, take: (sender: Sender) => take(sender, `team-${(count += 1)}`) }
}

/** Whether that is so this many times, one after the other. */
function all(times: number, holds: () => boolean): boolean {
  return Array.from({ length: times }, holds).every(Boolean)
}

t.test('events without a signature get a quarter of the places, and the webhook the rest', async (t) => {
  const { admits, take } = open(true, () => 0)
  const unsigned = Array.from({ length: MOST_UNSIGNED }, () => take('anybody'))
  t.ok(unsigned.every((leave) => leave !== undefined))
  t.equal(take('anybody'), undefined)
  t.notOk(admits('anybody'))
  t.ok(all(MOST_EVENTS - MOST_UNSIGNED, () => take('webhook') !== undefined))
  t.equal(take('webhook'), undefined)
  t.notOk(admits('webhook'))
  unsigned[0]?.()
  t.ok(admits('webhook'))
  t.ok(take('anybody'))
})

t.test('however many namespaces have taken what was left, others have ten places each', async (t) => {
  const { take } = openEventPlaces(true, () => 0)
  const events = (namespace: string): number => {
    let count = 0
    while (take('webhook', namespace) !== undefined) count += 1
    return count
  }
  for (let index = 0; index < 10; index += 1) events(`busy-${index}`)
  t.equal(events('team'), 10)
})

t.test('a flood without a signature is admitted 20 times a second', async (t) => {
  let time = 0
  const { admits } = openEventPlaces(true, () => time)
  const admitted = (): number => Array.from({ length: 2_000 }, () => admits('anybody')).filter(Boolean).length
  t.equal(admitted(), MOST_UNSIGNED, 'as many as have places at once')
  time += 1_000
  t.equal(admitted(), 20)
  t.ok(admits('webhook'))
  time += 60_000
  t.equal(admitted(), MOST_UNSIGNED)
})

t.test('a further resource of a list, and 128 KiB of a body, count as an event', async (t) => {
  let time = 0
  const { admits, charge, takeFurther } = openEventPlaces(true, () => time)
  const leaves = Array.from({ length: MOST_UNSIGNED }, (_, index) => takeFurther('anybody', `team-${index}`))
  t.ok(leaves.every((leave) => leave !== undefined))
  for (const leave of leaves) leave?.()
  t.notOk(admits('anybody'), 'there is room, and what may be read at once was read')
  t.equal(takeFurther('anybody', 'team'), undefined)
  t.ok(takeFurther('webhook', 'team'))
  time += 60_000
  charge('webhook', { bytes: 1024 ** 3 })
  t.ok(admits('anybody'))
  charge('anybody', { bytes: (MOST_UNSIGNED + 20) * READ })
  time += 1_000
  t.notOk(admits('anybody'))
  time += 100
  t.ok(admits('anybody'))
})

t.test(
  'what is announced counts before it is read, and of all together two large lists are owed at most',
  async (t) => {
    let time = 0
    const { admits, charge } = openEventPlaces(true, () => time)
    const list = { bytes: 80 * READ }
    t.same(
      Array.from({ length: 6 }, () => admits('anybody', list)),
      [true, true, true, true, false, false],
    )
    for (let chunked = 0; chunked < 60; chunked += 1) charge('anybody', list)
    time += 8_000
    t.notOk(admits('anybody'))
    time += 100
    t.ok(admits('anybody'))
  },
)

t.test('who floods leaves each other address ten a second, and owes for its own bodies alone', async (t) => {
  let time = 0
  const { admits, charge } = openEventPlaces(true, () => time)
  const from = (address: string, bytes = 300): boolean => admits('anybody', { address, bytes })
  const countOf = (address: string, bytes?: number): number =>
    Array.from({ length: 2_000 }, () => from(address, bytes)).filter(Boolean).length
  t.equal(countOf('192.0.2.1'), MOST_UNSIGNED + 20)
  t.equal(countOf('192.0.2.2'), 20)
  for (let second = 0; second < 10; second += 1) {
    time += 1_000
    t.equal(countOf('192.0.2.1'), 30)
    t.equal(countOf('192.0.2.2'), 10)
  }
  time += 60_000
  t.equal(countOf('192.0.2.1', 80 * READ), 4 + 1, 'of large ones, one more on its own account')
  charge('anybody', { address: '192.0.2.1', bytes: 1024 ** 3 })
  t.equal(countOf('192.0.2.2'), 20)
  time += 15_000
  t.equal(countOf('192.0.2.1'), 0)
  t.equal(countOf('192.0.2.2'), 300 + 20)
})

t.test('sources have reads that nobody else can take, and the places of the webhook', async (t) => {
  let time = 0
  const { admits, take, charge, giveBack } = openEventPlaces(true, () => time)
  const countOf = (sender: Sender, bytes = 0): number =>
    Array.from({ length: 10_000 }, () => admits(sender, { bytes })).filter(Boolean).length
  t.equal(countOf('anybody'), MOST_UNSIGNED)
  t.ok(countOf('source') >= 6_300)
  time += 1_000
  t.equal(countOf('anybody'), 20)
  const inSecond = countOf('source')
  t.ok(inSecond >= 380 && inSecond <= 400, `${inSecond}`)
  time += 1_000
  t.equal(countOf('source', 1024 * 1024), 10, 'of large ones 10 MiB')
  giveBack('source')
  t.equal(countOf('source'), 0)
  time += 1_000
  charge('source', { bytes: 10 * 1024 * 1024, address: '192.0.2.1' })
  t.notOk(admits('source'))
  for (let index = 0; index < MOST_UNSIGNED; index += 1) take('anybody', `team-${index}`)
  t.equal(take('anybody', 'team'), undefined)
  t.ok(all(MOST_EVENTS - MOST_UNSIGNED, () => take('source', `of-source-${(time += 1)}`) !== undefined))
  t.equal(take('source', 'team'), undefined)
  time += 60_000
  t.ok(admits('source'), 'what it tells of waits for a place')
})

t.test('of the places for anybody, a namespace leaves the others some', async (t) => {
  const { take } = openEventPlaces(true, () => 0)
  let taken = 0
  for (let index = 0; index < 10; index += 1)
    while (take('anybody', `busy-${index}`) !== undefined) taken += 1
  t.ok(taken < MOST_UNSIGNED)
  t.ok(all(3, () => take('anybody', 'team') !== undefined))
})

t.test('without a key all senders are equal', async (t) => {
  const { admits, take } = open(false, () => 0)
  t.ok(all(MOST_EVENTS, () => admits('anybody') && take('anybody') !== undefined))
  t.notOk(admits('anybody'))
  t.equal(take('anybody'), undefined)
})

t.test('a namespace gets no more places than it leaves free', async (t) => {
  const { take } = openEventPlaces(true, () => 0)
  t.ok(all(MOST_EVENTS / 2, () => take('webhook', 'hog') !== undefined))
  t.equal(take('webhook', 'hog'), undefined)
  t.ok(take('webhook', 'other'))
})
