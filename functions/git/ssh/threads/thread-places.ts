import { stopIfAborted } from '../../process/launcher.ts'
import { useIdleThreads } from './idle-threads.ts'
import { keepStartedThreads, type Place, type PlacedThread } from './started-threads.ts'
import { makeThreadTurns, type TurnBounds } from './thread-turns.ts'
import { startWorkerThread, type WorkerThread } from './worker-thread.ts'

/** The use of a thread by one session. */
export interface Lease {
  readonly thread: WorkerThread
  /** Tries a log-in: for a moment, the thread is not ended for others who wait. Throws what `work` throws. */
  readonly logIn: <T>(work: () => Promise<T>) => Promise<T>
  /** Called when the server was reached: the thread talks to no other one. */
  readonly reached: () => void
  /** Called once when the session has ended. */
  readonly release: () => void
}

/** The threads of all SSH servers. */
export interface ThreadPlaces {
  /** Whether there is a thread of this place. */
  has(place: Place): boolean
  /**
   * Waits for the thread of this place, or for room to start it.
   * @throws Failure Timeout when the signal fires first
   */
  lease(place: Place, signal: AbortSignal): Promise<Lease>
  /** Ends all threads. */
  close(): Promise<void>
}

/** How many threads there are at a time, and how long one stays that nobody uses. */
export interface PlaceBounds extends TurnBounds {
  readonly total: number
  readonly perNamespace: number
  readonly idleMs: number
}

/** A thread needs some 17 MB, and never more than 64 MiB of heap and its buffers. */
export const PLACE_BOUNDS: PlaceBounds = {
  total: 8,
  perNamespace: 2,
  idleMs: 5_000,
  turnMs: 1_500,
  longestMs: 10_000,
  mostLong: 4,
}
/** How often that is checked during a turn. */
const CHECKS = 8

interface Waiter extends Place {
  readonly start: (lease: Lease) => void
  readonly fail: (error: unknown) => void
}

/**
 * Bounds the threads fairly: the next one to start belongs to the namespace with the fewest, and among equals to one that has
 * used threads for the least time. Those that have used them for long have one started a second, all together. A thread that nobody
 * uses goes on for another namespace at the same server, or makes room for one that is waited for, and so does one that was used for
 * long, for a namespace that has none: a server may be silent until an attempt ends, and other sessions may have joined by then.
 * `elapsed`: milliseconds of a clock that is never set.
 */
export function makeThreadPlaces(
  { total, perNamespace, idleMs, ...bounds }: PlaceBounds = PLACE_BOUNDS,
  start: () => WorkerThread = startWorkerThread,
  elapsed: () => number = () => performance.now(),
): ThreadPlaces {
  const threads = keepStartedThreads(start, (placed) => {
    // Its sessions may notice later; until then their namespace must not seem to have used nothing.
    turns.end(placed)
    startWaiters()
  })
  const idle = useIdleThreads(threads, isBelowMost)
  const waiters = new Set<Waiter>()
  const turns = makeThreadTurns(bounds, elapsed)
  /** While somebody waits. */
  let watch: NodeJS.Timeout | undefined

  /** How many namespaces wait that have no thread, may have one started now, and for which none is about to end. */
  function keptOut(): number {
    const ofEach = new Map([...waiters].map((waiter) => [waiter.namespace, waiter]))
    const waiting = [...ofEach.values()].filter(({ namespace }) => threads.countOf(namespace) === 0)
    return turns.mayStart(waiting).length - threads.ending()
  }

  /** Starts what may be started by now, and ends threads that were used for long, one for each namespace that is kept out. */
  function look(): void {
    if (threads.size() < total) startWaiters()
    for (let left = keptOut(); left > 0; left -= 1) turns.next(threads.living())?.thread.end('turn')
    // An idle one may soon be used again.
    idle.makeRoom(turns.mayStart([...waiters]))
  }

  function isBelowMost({ namespace }: Place): boolean {
    return threads.countOf(namespace) < perNamespace
  }

  /** `first`: who comes before it, where few may have a thread started. */
  function tryLease(place: Place, first: Iterable<Place> = []): Lease | undefined {
    const found = threads.find(place) ?? threads.findBlank(place.namespace)
    if (found !== undefined && isOver(found) && keptOut() > 0) return undefined
    const used = found ?? beginIn(place, first) ?? goOnIn(place, first)
    if (used === undefined) return undefined
    used.server = place.server
    clearTimeout(used.idle)
    turns.begin(used)
    used.thread.hold(true)
    return {
      thread: used.thread,
      logIn: (work) => turns.logIn(used, work),
      reached: () => void (used.hasReached = true),
      release: () => release(used),
    }
  }

  /** One that has reached no server may have had many users, one after the other. */
  function isOver(used: PlacedThread): boolean {
    return turns.isOver(used) || (used.server === undefined && elapsed() - used.began >= bounds.turnMs)
  }

  function beginIn(place: Place, first: Iterable<Place>): PlacedThread | undefined {
    if (threads.size() >= total || !isBelowMost(place)) return undefined
    if (!turns.mayStart([...first, place]).includes(place)) return undefined
    const placed = threads.begin(place, elapsed())
    turns.start(place.namespace)
    return placed
  }

  /** One that nobody uses, of another namespace at the same server, unless one of `first` waits for it. */
  function goOnIn(place: Place, first: Iterable<Place>): PlacedThread | undefined {
    if ([...first].some(({ server }) => server === place.server)) return undefined
    return idle.takeOver(place)
  }

  function release(used: PlacedThread): void {
    turns.leave(used)
    if (used.leases > 0) return
    if (!used.hasReached) used.server = undefined
    used.thread.hold(false)
    used.idle = setTimeout(used.thread.end, idleMs).unref()
    if (used.hasReached) passOn(used)
    // To start a thread takes long: this one is for the next address of the same attempt, or for others of its namespace.
    else setImmediate(startWaiters)
  }

  /** It goes on for whoever is next of other namespaces, or one that nobody uses ends for them if they wait for another server. */
  function passOn({ namespace, server, thread }: PlacedThread): void {
    if (thread.isEnding()) return
    const others = inOrder().filter((waiter) => waiter.namespace !== namespace && isBelowMost(waiter))
    // For the first of them threads are about to end.
    const mayStart = turns.mayStart(others).slice(threads.ending())
    const next = others.find((waiter) => waiter.server === server || mayStart.includes(waiter))
    if (next === undefined) makeRoom()
    else if (next.server === server) startWaiter(next)
    else idle.endFor(next)
  }

  function inOrder(): readonly Waiter[] {
    return [...waiters].sort(
      ({ namespace: a }, { namespace: b }) =>
        threads.countOf(a) - threads.countOf(b) || turns.rankOf(a) - turns.rankOf(b),
    )
  }

  function startWaiters(): void {
    if (inOrder().some(startWaiter)) startWaiters()
    else makeRoom()
  }

  /** Whether it waits no more. */
  function startWaiter(waiter: Waiter): boolean {
    try {
      const lease = tryLease(waiter)
      if (lease === undefined) return false
      waiter.start(lease)
    } catch (error) {
      // Where the pod may have no more threads.
      waiter.fail(error)
    }
    return waiters.delete(waiter)
  }

  function leave(abort: () => void, signal: AbortSignal): void {
    signal.removeEventListener('abort', abort)
    if (waiters.size > 0) return
    clearInterval(watch)
    watch = undefined
  }

  function makeRoom(): void {
    idle.makeRoom([...waiters].filter(turns.hasShare))
  }

  return {
    has: (place) => threads.find(place) !== undefined,
    async lease(place, signal) {
      stopIfAborted(signal)
      const free = tryLease(place, waiters)
      if (free !== undefined) return free
      const { promise, resolve, reject } = Promise.withResolvers<Lease | undefined>()
      const waiter = { ...place, start: resolve, fail: reject }
      waiters.add(waiter)
      watch ??= setInterval(look, bounds.turnMs / CHECKS).unref()
      function abort(): void {
        if (!waiters.delete(waiter)) return
        resolve(undefined)
        // Others may have waited because of it.
        startWaiters()
      }
      signal.addEventListener('abort', abort, { once: true })
      makeRoom()
      const lease = await promise.finally(() => leave(abort, signal))
      if (lease !== undefined) return lease
      stopIfAborted(signal)
      throw new Error('A wait ended without a lease')
    },
    close: threads.close,
  }
}
