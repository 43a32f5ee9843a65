import t from 'tap'
import { makeThreadTurns, type UsedThread } from '../../../functions/git/ssh/threads/thread-turns.ts'

/** Turns of 1.5 s, ten at most, four of more than two turns at once, by a clock that a test sets. */
function stage() {
  const clock = { now: 0 }
  const turns = makeThreadTurns({ turnMs: 1_500, longestMs: 10_000, mostLong: 4 }, () => clock.now)
  function use(namespace: string): UsedThread {
    const used: UsedThread = { namespace, leases: 0, since: 0, logsInSince: undefined }
    turns.begin(used)
    return used
  }
  return { clock, turns, use }
}

t.test('the only thread of a namespace is used for ten seconds, one of two for three', async (t) => {
  const { clock, turns, use } = stage()
  const [alone, first, second] = [use('a'), use('b'), use('b')]
  clock.now = 2_999
  t.equal(turns.next([alone, first, second]), undefined)
  clock.now = 3_000
  t.equal(turns.next([alone, first, second]), first)
  t.equal(turns.next([alone, second]), undefined, 'it is the only one now')
  clock.now = 10_000
  t.equal(turns.next([alone, second]), alone)
})

t.test('a thread with which somebody logs in is not ended, for two seconds', async (t) => {
  const { clock, turns, use } = stage()
  const [first, second] = [use('b'), use('b')]
  clock.now = 2_500
  first.logsInSince = clock.now
  clock.now = 4_499
  t.equal(turns.next([first, second]), second)
  t.equal(turns.next([first]), undefined)
  second.logsInSince = clock.now
  t.equal(turns.next([first, second]), undefined)
  clock.now = 4_500
  t.equal(turns.next([first, second]), first)
})

t.test('a namespace that has used threads for long has short turns, until it has rested', async (t) => {
  const { clock, turns, use } = stage()
  for (const end of [10_000, 20_000, 30_000]) {
    const used = use('a')
    clock.now = end
    turns.leave(used)
  }
  const [busy, other] = [use('a'), use('b')]
  clock.now += 3_000
  t.equal(turns.next([other, busy]), busy)
  turns.leave(busy)
  clock.now += 60_000
  const rested = use('a')
  clock.now += 9_999
  t.equal(turns.next([rested]), undefined)
})

t.test('a thread that has ended counts for as long as it was used until then', async (t) => {
  const { clock, turns, use } = stage()
  const used = use('a')
  t.equal(turns.rankOf('a'), turns.rankOf('b'))
  clock.now = 5_000
  turns.end(used)
  t.equal(turns.rankOf('a') - turns.rankOf('b'), 5)
  clock.now = 9_000
  turns.leave(used)
  t.equal(turns.rankOf('a') - turns.rankOf('b'), 4, 'a quarter of the time since then was given back')
})

t.test('the start of a thread counts as two seconds', async (t) => {
  const { turns } = stage()
  turns.start('a')
  t.equal(turns.rankOf('a') - turns.rankOf('b'), 2)
})

t.test('namespaces that have used threads for long have one started a second, all together', async (t) => {
  const { clock, turns } = stage()
  const [a, b, c] = [{ namespace: 'a' }, { namespace: 'b' }, { namespace: 'c' }]
  for (let i = 0; i < 11; i++) [a, b].forEach(({ namespace }) => turns.start(namespace))
  t.same([a, b, c].map(turns.hasShare), [false, false, true])
  t.same(turns.mayStart([a, b, c]), [c, a])
  turns.start('c')
  t.same(turns.mayStart([a, b, c]), [c, a])
  turns.start('a')
  clock.now = 999
  t.same(turns.mayStart([a, b, c]), [c])
  clock.now = 1_000
  t.same(turns.mayStart([b]), [b])
})

t.test('of threads that were used for more than three seconds, four go on for longer', async (t) => {
  const { clock, turns, use } = stage()
  const earlier = use('d')
  clock.now = 1_000
  turns.leave(earlier)
  const threads = ['a', 'b', 'c', 'd', 'e', 'f'].map(use)
  clock.now = 3_999
  t.equal(turns.next(threads), undefined)
  clock.now = 4_000
  const [first, second, ...four] = [threads[3], threads[0], ...threads.slice(1, 3), ...threads.slice(4)]
  t.equal(turns.next(threads), first, 'its namespace has used threads for the most time')
  t.equal(turns.next([second!, ...four.slice(0, 4)]), second)
  t.equal(turns.next(four), undefined)
  clock.now = 10_999
  t.equal(turns.next(four), undefined)
  clock.now = 11_000
  t.equal(turns.next(four), four[0])
})

t.test('time counts while a thread has leases, whose users may change', async (t) => {
  const { clock, turns, use } = stage()
  const used = use('a')
  clock.now = 1_000
  turns.begin(used)
  turns.leave(used)
  clock.now = 1_500
  t.ok(turns.isOver(used), 'one has joined before another left')
  turns.leave(used)
  t.notOk(turns.isOver(used))
  turns.begin(used)
  clock.now = 2_999
  t.notOk(turns.isOver(used))
})
