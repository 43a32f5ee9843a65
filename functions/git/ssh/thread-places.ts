import { stopIfAborted } from '../process/launcher.ts'
import { startWorkerThread } from './worker-thread.ts'
import type { WorkerThread } from './worker-thread.ts'

/** Whose servers a thread talks to: those of one namespace at one host, and no others. */
export interface Place {
  readonly namespace: string
  /** Name and port. */
  readonly host: string
}

/** The use of a thread by one session. */
export interface Lease {
  readonly thread: WorkerThread
  /** Called once when the session has ended. */
  readonly release: () => void
}

/** The threads of all SSH servers. */
export interface ThreadPlaces {
  /**
   * Waits for the thread of this place, or for room to start it.
   * @throws Failure Timeout when the signal fires first
   */
  lease(place: Place, signal: AbortSignal): Promise<Lease>
  /** Ends all threads. */
  close(): Promise<void>
}

/** How many threads there are at a time, and how long one stays that nobody uses. */
export interface PlaceBounds {
  readonly total: number
  readonly perNamespace: number
  readonly idleMs: number
}

/** A thread needs some 17 MB, and never more than 64 MiB of heap and its buffers. */
export const PLACE_BOUNDS: PlaceBounds = { total: 8, perNamespace: 2, idleMs: 5_000 }

interface Used extends Place {
  readonly thread: WorkerThread
  leases: number
  idle: NodeJS.Timeout | undefined
}

interface Waiter extends Place {
  readonly start: (lease: Lease) => void
}

/**
 * Bounds the threads fairly: the next one to start belongs to the namespace with the fewest. A thread that nobody uses
 * makes room for one that is waited for.
 */
export function makeThreadPlaces(
  { total, perNamespace, idleMs }: PlaceBounds = PLACE_BOUNDS,
  start: () => WorkerThread = startWorkerThread,
): ThreadPlaces {
  const all = new Set<Used>()
  const waiters = new Set<Waiter>()

  function countOf(namespace: string): number {
    return [...all].filter((used) => used.namespace === namespace).length
  }

  function hasShare({ namespace }: Place): boolean {
    return countOf(namespace) < perNamespace
  }

  function find({ namespace, host }: Place): Used | undefined {
    return [...all].find(
      (used) => used.namespace === namespace && used.host === host && !used.thread.isEnding(),
    )
  }

  function begin({ namespace, host }: Place): Used {
    const used: Used = { namespace, host, thread: start(), leases: 0, idle: undefined }
    all.add(used)
    // It counts until its memory is free.
    void used.thread.ended.then(() => {
      clearTimeout(used.idle)
      all.delete(used)
      startWaiters()
    })
    return used
  }

  function tryLease(place: Place): Lease | undefined {
    const used = find(place) ?? (all.size < total && hasShare(place) ? begin(place) : undefined)
    if (used === undefined) return undefined
    clearTimeout(used.idle)
    used.leases += 1
    used.thread.hold(true)
    return { thread: used.thread, release: () => release(used) }
  }

  function release(used: Used): void {
    used.leases -= 1
    if (used.leases > 0) return
    used.thread.hold(false)
    used.idle = setTimeout(used.thread.end, idleMs).unref()
    makeRoom()
  }

  function startWaiters(): void {
    const fewestFirst = [...waiters].sort((a, b) => countOf(a.namespace) - countOf(b.namespace))
    for (const waiter of fewestFirst) {
      const lease = tryLease(waiter)
      if (lease === undefined) continue
      waiters.delete(waiter)
      waiter.start(lease)
      startWaiters()
      return
    }
    makeRoom()
  }

  /** Ends one idle thread for each waiter, unless enough are about to end. */
  function makeRoom(): void {
    const ending = [...all].filter(({ thread }) => thread.isEnding()).length
    const idle = [...all].filter(({ leases, thread }) => leases === 0 && !thread.isEnding())
    for (const waiter of [...waiters].slice(ending)) {
      const helps = idle.findIndex(({ namespace }) => hasShare(waiter) || namespace === waiter.namespace)
      if (helps >= 0) idle.splice(helps, 1)[0]?.thread.end()
    }
  }

  return {
    async lease(place, signal) {
      stopIfAborted(signal)
      const free = tryLease(place)
      if (free !== undefined) return free
      const { promise, resolve } = Promise.withResolvers<Lease | undefined>()
      const waiter = { ...place, start: resolve }
      waiters.add(waiter)
      function abort(): void {
        if (waiters.delete(waiter)) resolve(undefined)
      }
      signal.addEventListener('abort', abort, { once: true })
      makeRoom()
      const lease = await promise
      signal.removeEventListener('abort', abort)
      if (lease !== undefined) return lease
      stopIfAborted(signal)
      throw new Error('A wait ended without a lease')
    },
    async close() {
      for (const { thread } of all) thread.end()
      await Promise.all([...all].map(({ thread }) => thread.ended))
    },
  }
}
