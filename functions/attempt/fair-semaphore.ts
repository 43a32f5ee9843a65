import { Failure } from '../domain/failure.ts'
import type { Holder, Release } from '../world.ts'

/** How many there may be, over all and of one kind. */
export interface Bound {
  readonly total: number
  readonly perNamespace: number
  /** More than for a namespace: most tenants share a host. */
  readonly perHost: number
}

export interface Bounds {
  /** Running attempts. */
  readonly held: Bound
  /** Attempts that wait to start. */
  readonly waiting: Bound
}

/** Says when an attempt may start. */
export interface FairSemaphore {
  /**
   * Waits until one more attempt may run. Answers undefined where the same resource waits already. Throws a Failure with the
   * reason Conflict at once where too many wait, or when it is closed meanwhile.
   */
  readonly acquire: (keys: Holder) => Promise<Release | undefined>
  /** Refuses all that wait and all that come later; attempts that run go on. */
  readonly close: () => void
}

interface Waiter {
  readonly keys: Holder
  readonly start: (end: Release) => void
  readonly leave: (failure: Failure) => void
}

/**
 * Bounds attempts in flight, fairly: the next to start is of the namespace that has the fewest running, first come
 * first served within it; no namespace and no host (one that hangs, say) ever has more than its share, of those that
 * run and of those that wait.
 */
export function makeFairSemaphore(bounds: Bounds): FairSemaphore {
  const running: Holder[] = []
  let waiters: readonly Waiter[] = []
  let closed = false

  function hasRoom(keys: Holder): boolean {
    return isWithin(bounds.held, running, keys)
  }

  function begin(keys: Holder): Release {
    running.push(keys)
    return function end() {
      const index = running.indexOf(keys)
      if (index < 0) return
      running.splice(index, 1)
      wake()
    }
  }

  function wake(): void {
    for (let next = nextWaiter(); next !== undefined; next = nextWaiter()) {
      const { keys, start } = next
      waiters = waiters.filter((waiter) => waiter.keys !== keys)
      start(begin(keys))
    }
  }

  function nextWaiter(): Waiter | undefined {
    const ready = waiters.filter(({ keys }) => hasRoom(keys))
    const counts = ready.map(({ keys }) => ofNamespace(running, keys))
    return ready[counts.indexOf(Math.min(...counts))]
  }

  function acquire(keys: Holder): Promise<Release | undefined> {
    if (closed) return Promise.reject(busy())
    if (hasRoom(keys)) return Promise.resolve(begin({ ...keys }))
    const waiting = waiters.map((waiter) => waiter.keys)
    if (waiting.some(({ resource }) => resource === keys.resource)) return Promise.resolve(undefined)
    if (!isWithin(bounds.waiting, waiting, keys)) return Promise.reject(busy())
    const { promise, resolve, reject } = Promise.withResolvers<Release>()
    waiters = [...waiters, { keys: { ...keys }, start: resolve, leave: reject }]
    return promise
  }

  function close(): void {
    closed = true
    for (const { leave } of waiters) leave(busy())
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
  return new Failure('Conflict', 'Too many attempts wait for their turn; it is tried again.')
}
