import t from 'tap'
import {
  makeThreadPlaces,
  type Lease,
  type PlaceBounds,
} from '../../../functions/git/ssh/threads/thread-places.ts'
import type { WorkerThread } from '../../../functions/git/ssh/threads/worker-thread.ts'
import { outcomeOf, patience, until } from '../stage.ts'

const LONG_MS = 60_000
const BOUNDS: PlaceBounds = {
  total: 3,
  perNamespace: 2,
  idleMs: LONG_MS,
  turnMs: LONG_MS,
  longestMs: LONG_MS,
  mostLong: 3,
}

/** Places whose threads do nothing; they end when they are told, or when `died` is called. */
function placesOf(bounds: Partial<PlaceBounds> = {}, elapsed?: () => number) {
  const threads: WorkerThread[] = []
  const pod = { hasRoom: true }
  function startThread(): WorkerThread {
    if (!pod.hasRoom) throw new Error('The pod has no thread left.')
    const { promise: ended, resolve } = Promise.withResolvers<undefined>()
    let ending = false
    function end(): void {
      ending = true
      setImmediate(resolve, undefined)
    }
    const nothing = (): undefined => undefined
    const thread = { listen: () => 0, forget: nothing, post: nothing, hold: nothing }
    threads.push({ ...thread, isEnding: () => ending, end, ended })
    return threads.at(-1)!
  }
  const places = makeThreadPlaces({ ...BOUNDS, ...bounds }, startThread, elapsed)
  async function lease(namespace: string, server: string, signal = patience()): Promise<Lease> {
    const leased = await places.lease({ namespace, server }, signal)
    leased.reached()
    return leased
  }
  return { places, threads, lease, pod }
}

/** Whether the promise is settled once everything that is due has happened. */
async function isSettled(work: Promise<unknown>): Promise<boolean> {
  let settled = false
  const settle = (): void => void (settled = true)
  void work.then(settle, settle)
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
  return settled
}

t.test('a namespace has one thread for each server, and none with another namespace', async (t) => {
  const { lease } = placesOf()
  const first = await lease('a', 'x')
  t.equal((await lease('a', 'x')).thread, first.thread)
  t.not((await lease('a', 'y')).thread, first.thread)
  t.not((await lease('b', 'x')).thread, first.thread)
})

t.test('a thread with which no server was reached is used for the next one of its namespace', async (t) => {
  const { places, lease } = placesOf()
  const first = await places.lease({ namespace: 'a', server: 'x' }, patience())
  const beside = await places.lease({ namespace: 'a', server: 'x' }, patience())
  t.equal(beside.thread, first.thread)
  first.release()
  t.not((await lease('a', 'y')).thread, first.thread, 'not while it is used')
  beside.release()
  t.not((await lease('b', 'y')).thread, first.thread)
  const next = await lease('a', 'z')
  t.equal(next.thread, first.thread)
  next.release()
  t.notOk(places.has({ namespace: 'a', server: 'x' }))
  t.ok(places.has({ namespace: 'a', server: 'z' }))
  t.not((await lease('a', 'x')).thread, first.thread, 'but not once one was')
})

t.test('a thread with which no server was reached goes to others of its namespace who wait', async (t) => {
  const { places, lease } = placesOf({ perNamespace: 1 })
  const first = await places.lease({ namespace: 'a', server: 'x' }, patience())
  const waiting = lease('a', 'y')
  first.release()
  const again = await places.lease({ namespace: 'a', server: 'z' }, patience())
  t.equal(again.thread, first.thread, 'whose attempt tries its next address')
  t.notOk(await isSettled(waiting))
  again.release()
  t.equal((await waiting).thread, first.thread)
})

t.test('where other namespaces wait it does so for no longer than a turn', async (t) => {
  let now = 0
  const { places, lease } = placesOf({ total: 1, turnMs: 1_500 }, () => now)
  const place = { namespace: 'a', server: 'x' }
  const first = await places.lease(place, patience())
  const waiting = lease('b', 'x')
  now = 1_499
  first.release()
  const again = await places.lease(place, patience())
  t.equal(again.thread, first.thread)
  now = 1_500
  again.release()
  const late = places.lease(place, patience())
  const other = await waiting
  t.notOk(await isSettled(late))
  other.release()
  t.not((await late).thread, first.thread)
})

t.test('a namespace waits at its share, others do not', async (t) => {
  const { lease } = placesOf()
  const held = [await lease('a', 'x'), await lease('a', 'y')]
  const third = lease('a', 'z')
  t.notOk(await isSettled(third))
  t.ok(await isSettled(lease('b', 'x')))
  t.ok(await isSettled(lease('a', 'x')), 'a thread that is there is shared')
  held[1]!.release()
  await third
})

t.test('the next thread is of the namespace with the fewest', async (t) => {
  const { lease } = placesOf()
  const held = await lease('a', 'x')
  await lease('b', 'x')
  await lease('c', 'x')
  const [late, early] = [lease('b', 'y'), lease('d', 'x')]
  t.notOk(await isSettled(early))
  held.release()
  await early
  t.notOk(await isSettled(late))
})

t.test('of namespaces with as many threads, one that has used them for less time is next', async (t) => {
  let now = 0
  const { lease } = placesOf({ total: 1 }, () => now)
  const held = await lease('a', 'x')
  now = 5_000
  const [early, late] = [lease('a', 'y'), lease('b', 'x')]
  held.release()
  t.ok(await isSettled(late))
  t.notOk(await isSettled(early))
})

t.test('a thread that nobody uses makes room, one that is used does not', async (t) => {
  const { lease, threads } = placesOf({ total: 1 })
  const first = await lease('a', 'x')
  const waiting = lease('b', 'y')
  t.notOk(await isSettled(waiting))
  t.notOk(threads[0]!.isEnding())
  first.release()
  t.not((await waiting).thread, first.thread)
})

t.test('a thread that nobody uses goes on for another namespace at the same server', async (t) => {
  const { places, lease, threads } = placesOf({ total: 1 })
  const first = await lease('a', 'x')
  const waiting = lease('b', 'x')
  t.notOk(await isSettled(waiting))
  first.release()
  const second = await waiting
  t.notOk(places.has({ namespace: 'a', server: 'x' }))
  second.release()
  ;(await lease('c', 'x')).release()
  t.equal(threads.length, 1)
})

t.test('it goes on for the next in line, or ends where that one waits for another server', async (t) => {
  let now = 0
  const { lease, threads } = placesOf({ total: 1 }, () => now)
  const first = await lease('a', 'x')
  now = 5_000
  const [late, early] = [lease('b', 'x'), lease('c', 'y')]
  first.release()
  t.ok(await isSettled(late))
  now = 8_000
  ;(await late).release()
  t.ok(await isSettled(early))
  const again = lease('b', 'x')
  now = 9_000
  const next = lease('d', 'z')
  ;(await early).release()
  t.ok(await isSettled(next))
  t.notOk(await isSettled(again))
  t.equal(threads.length, 3)
})

t.test('a thread goes on for who waits at its server while another one ends for who is next', async (t) => {
  const { lease } = placesOf({ total: 2 })
  const [first, other] = [await lease('a', 'x'), await lease('b', 'y')]
  const [next, late] = [lease('c', 'z'), lease('d', 'x')]
  other.release()
  first.release()
  const newcomer = lease('e', 'x')
  t.equal((await late).thread, first.thread)
  await next
  t.notOk(await isSettled(newcomer))
})

t.test('of threads that nobody uses, the one that was used the longest ago makes room', async (t) => {
  let now = 0
  const { lease, threads } = placesOf({}, () => now)
  for (const namespace of ['a', 'b', 'c', 'a', 'b']) {
    now += 1_000
    ;(await lease(namespace, 'x')).release()
  }
  await lease('d', 'y')
  t.same(
    threads.map((thread) => thread.isEnding()),
    [false, false, true, false],
  )
})

t.test('a thread that has ended counts at once, although its session has not noticed', async (t) => {
  let now = 0
  const { lease, threads } = placesOf({ total: 1 }, () => now)
  const held = await lease('a', 'x')
  const [early, late] = [lease('a', 'y'), lease('b', 'x')]
  now = 5_000
  threads[0]!.end('turn')
  t.ok(await isSettled(late))
  t.notOk(await isSettled(early))
  now = 60_000
  held.release()
  ;(await late).release()
  t.ok(await isSettled(early))
})

t.test('while a namespace without a thread waits, no session joins one that was used for long', async (t) => {
  const { lease, threads } = placesOf({ total: 1, turnMs: 0 })
  const held = await lease('a', 'x')
  const shared = await lease('a', 'x')
  const waiting = lease('b', 'x')
  const late = lease('a', 'x')
  t.notOk(await isSettled(late))
  held.release()
  t.notOk(threads[0]!.isEnding(), 'what has begun there goes on')
  shared.release()
  const other = await waiting
  t.notOk(await isSettled(late))
  other.release()
  t.ok(await isSettled(late))
})

t.test('who waits for others to go first goes on once they have given up', async (t) => {
  const { lease } = placesOf({ total: 1, turnMs: 0 })
  const held = await lease('a', 'x')
  const abort = new AbortController()
  const waiting = outcomeOf(lease('b', 'x', abort.signal))
  const late = lease('a', 'x')
  t.notOk(await isSettled(late))
  abort.abort()
  t.match(await waiting, { reason: 'Timeout' })
  t.equal((await late).thread, held.thread)
})

t.test('of two threads that one namespace uses for long, one makes room for another namespace', async (t) => {
  const { lease, threads } = placesOf({ turnMs: 5 })
  await lease('b', 'x')
  await lease('a', 'x')
  await lease('a', 'y')
  const waiting = lease('c', 'x')
  await until('a thread', () => isSettled(waiting))
  t.same(
    threads.map((thread) => thread.isEnding()),
    [false, true, false, false],
  )
  const late = lease('d', 'x')
  t.notOk(await isSettled(late))
  t.notOk(threads.slice(2).some((thread) => thread.isEnding()))
})

t.test('the only thread of a namespace makes room once it was used for very long', async (t) => {
  const { lease, threads } = placesOf({ total: 2, turnMs: 5, longestMs: 10 })
  await lease('a', 'x')
  await lease('b', 'x')
  const waiting = lease('c', 'x')
  await until('a thread', () => isSettled(waiting))
  t.same(
    threads.map((thread) => thread.isEnding()),
    [true, false, false],
  )
})

t.test(
  'where all threads are used for long, and few may be, one makes room for another namespace',
  async (t) => {
    const { lease, threads } = placesOf({ turnMs: 5, mostLong: 2 })
    for (const namespace of ['a', 'b', 'c']) await lease(namespace, 'x')
    const waiting = lease('d', 'x')
    await until('a thread', () => isSettled(waiting))
    t.equal(threads.filter((thread) => thread.isEnding()).length, 1)
  },
)

/** Places with checks every few milliseconds, where these namespaces have used threads for a minute. */
async function busyPlaces(busy: readonly string[], bounds: Partial<PlaceBounds> = {}) {
  const clock = { now: 0 }
  const stage = placesOf({ turnMs: 40, longestMs: 60_000, ...bounds, total: 8 }, () => clock.now)
  const held = await Promise.all(busy.map((namespace) => stage.lease(namespace, 'x')))
  clock.now = 60_000
  for (const one of held) one.release()
  for (const thread of stage.threads) thread.end()
  await Promise.all(stage.threads.map(({ ended }) => ended))
  return { ...stage, clock }
}

t.test('namespaces that have used threads for long have one started a second, all together', async (t) => {
  const { lease, clock } = await busyPlaces(['a', 'b', 'c'])
  const [first, second, third] = [lease('a', 'x'), lease('b', 'x'), lease('c', 'x')]
  t.ok(await isSettled(first))
  t.notOk(await isSettled(second))
  t.ok(await isSettled(lease('d', 'x')), 'another one waits for nothing')
  clock.now += 1_000
  await until('the second', () => isSettled(second))
  t.notOk(await isSettled(third))
})

t.test('of them who waits comes before one that arrives', async (t) => {
  const { lease, clock } = await busyPlaces(['a', 'b', 'c'])
  await lease('a', 'x')
  const waiting = lease('b', 'x')
  clock.now += 1_000
  const late = lease('c', 'x')
  await until('who waits', () => isSettled(waiting))
  t.notOk(await isSettled(late))
})

t.test('for them a thread ends that was used for long, before one that nobody uses', async (t) => {
  const { lease, threads, clock } = await busyPlaces(['a', 'b'], { perNamespace: 1 })
  const held = await lease('d', 'y')
  const idle = threads.at(-1)!
  held.release()
  await lease('a', 'x')
  const long = threads.at(-1)!
  for (const namespace of ['e', 'f', 'g', 'h', 'i', 'j']) await lease(namespace, 'x')
  clock.now += 5_000
  const waiting = lease('b', 'x')
  await until('a thread', () => isSettled(waiting))
  t.same([long.isEnding(), idle.isEnding()], [true, false])
})

t.test('a thread that has ended is replaced, and counts until it has', async (t) => {
  const { lease, threads } = placesOf({ total: 1 })
  const first = await lease('a', 'x')
  first.thread.end()
  const second = await lease('a', 'x')
  t.not(second.thread, first.thread)
  t.equal(threads.length, 2)
})

t.test('who waits for a thread that cannot be started learns so, and later ones get theirs', async (t) => {
  const { lease, pod } = placesOf({ total: 1 })
  const first = await lease('a', 'x')
  const waiting = [lease('a', 'y'), lease('b', 'x')]
  pod.hasRoom = false
  first.thread.end()
  for (const one of waiting) await t.rejects(one, { message: /no thread left/ })
  pod.hasRoom = true
  t.ok(await isSettled(lease('b', 'x')))
})

t.test('an idle thread ends after a while', async () => {
  const { lease, threads } = placesOf({ idleMs: 5 })
  const held = await lease('a', 'x')
  held.release()
  await until('the end', async () => threads[0]!.isEnding())
})

t.test('who waits too long gets a Timeout and leaves the queue', async (t) => {
  const { lease } = placesOf({ total: 1 })
  const held = await lease('a', 'x')
  const abort = new AbortController()
  const waiting = outcomeOf(lease('b', 'x', abort.signal))
  abort.abort()
  t.match(await waiting, { reason: 'Timeout' })
  t.match(await outcomeOf(lease('c', 'x', abort.signal)), { reason: 'Timeout' })
  held.release()
  t.ok(await isSettled(lease('a', 'x')), 'the idle thread was not ended for nobody')
})

t.test('all threads end when the places are closed', async (t) => {
  const { lease, places, threads } = placesOf()
  await lease('a', 'x')
  await lease('b', 'x')
  await places.close()
  t.ok(threads.every((thread) => thread.isEnding()))
})

t.test(
  'a thread that has ended before it is given back ends no other for who may not start one',
  async (t) => {
    const { lease } = await busyPlaces(['a', 'b'])
    await lease('a', 'x')
    const [ended, idle] = [await lease('c', 'x'), await lease('d', 'y')]
    idle.release()
    ended.thread.end()
    await ended.thread.ended
    t.notOk(await isSettled(lease('b', 'x')))
    ended.release()
    t.notOk(idle.thread.isEnding())
  },
)
