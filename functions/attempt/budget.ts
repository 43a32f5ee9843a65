import { Failure } from '../domain/failure.ts'
import type { Holder, Release } from '../world.ts'

/** Limits: in total, for one namespace and for one host. */
export interface Bound {
  readonly total: number
  readonly perNamespace: number
  /** Higher than for a namespace: most tenants share a host. */
  readonly perHost: number
}

export interface Bounds {
  /** Running attempts. */
  readonly held: Bound
  /** Attempts that wait to start. */
  readonly waiting: Bound
}

/** Decides when an attempt may start. */
export interface FairSemaphore {
  /**
   * Waits until the attempt may run. Returns undefined if the same resource already waits. Throws a Failure with the
   * reason Conflict immediately if too many attempts wait, and later if the semaphore is closed while it waits.
   */
  readonly acquire: (keys: Holder) => Promise<Release | undefined>
  /** Refuses all waiting and all later attempts; running attempts continue. */
  readonly close: () => void
}

interface Waiter {
  readonly keys: Holder
  readonly start: (release: Release) => void
  readonly reject: (failure: Failure) => void
}

/**
 * Limits concurrent attempts fairly. The next attempt to start belongs to the namespace with the fewest running
 * attempts, first come first served within the namespace. No namespace and no host (such as one that hangs) exceeds its
 * share of the running or of the waiting attempts.
 */
export function makeFairSemaphore(bounds: Bounds): FairSemaphore {
  const running: Holder[] = []
  let waiters: readonly Waiter[] = []
  let closed = false

  function hasRoom(keys: Holder): boolean {
    return isWithin(bounds.held, running, keys)
  }

  function hold(keys: Holder): Release {
    running.push(keys)
    return function release() {
      const index = running.indexOf(keys)
      if (index < 0) return
      running.splice(index, 1)
      startWaiters()
    }
  }

  function startWaiters(): void {
    for (let next = nextWaiter(); next !== undefined; next = nextWaiter()) {
      const { keys, start } = next
      waiters = waiters.filter((waiter) => waiter.keys !== keys)
      start(hold(keys))
    }
  }

  function nextWaiter(): Waiter | undefined {
    const ready = waiters.filter(({ keys }) => hasRoom(keys))
    const counts = ready.map(({ keys }) => ofNamespace(running, keys))
    return ready[counts.indexOf(Math.min(...counts))]
  }

  function acquire(keys: Holder): Promise<Release | undefined> {
    if (closed) return Promise.reject(busy())
    if (hasRoom(keys)) return Promise.resolve(hold({ ...keys }))
    const waiting = waiters.map((waiter) => waiter.keys)
    if (waiting.some(({ resource }) => resource === keys.resource)) return Promise.resolve(undefined)
    if (!isWithin(bounds.waiting, waiting, keys)) return Promise.reject(busy())
    const { promise, resolve, reject } = Promise.withResolvers<Release>()
    waiters = [...waiters, { keys: { ...keys }, start: resolve, reject }]
    return promise
  }

  function close(): void {
    closed = true
    for (const { reject } of waiters) reject(busy())
    waiters = []
  }

  return { acquire, close }
}

/** Is there room for one more? */
function isWithin(bound: Bound, list: readonly Holder[], keys: Holder): boolean {
  const ofHost = list.filter(({ host }) => host === keys.host).length
  return list.length < bound.total && ofNamespace(list, keys) < bound.perNamespace && ofHost < bound.perHost
}

function ofNamespace(list: readonly Holder[], keys: Holder): number {
  return list.filter(({ namespace }) => namespace === keys.namespace).length
}

function busy(): Failure {
  return new Failure('Conflict', 'Too many attempts are waiting to start; Commitlet retries automatically.')
}
