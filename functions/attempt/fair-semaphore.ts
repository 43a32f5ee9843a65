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
  /** Turns at once. */
  readonly held: Bound
  /** Places to wait. */
  readonly waiting: Bound
}

/** Hands out turns. */
export interface FairSemaphore {
  /**
   * Waits for a turn. Answers undefined where the same resource waits already. Throws Busy (a Failure with the
   * reason Conflict) at once where too many wait, or when it is closed meanwhile.
   */
  readonly acquire: (keys: Holder) => Promise<Release | undefined>
  /** Sends away who waits and who comes; turns that are taken go on. */
  readonly close: () => void
}

interface Waiter {
  readonly keys: Holder
  readonly start: (end: Release) => void
  readonly leave: (failure: Failure) => void
}

/**
 * Bounds attempts in flight, fairly: the next turn goes to the namespace that has the fewest, first come first
 * served within it; no namespace and no host (one that hangs, say) ever holds more than its share, of turns and
 * of places to wait.
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
      const place = running.indexOf(keys)
      if (place < 0) return
      running.splice(place, 1)
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
    const turns = ready.map(({ keys }) => ofNamespace(running, keys))
    return ready[turns.indexOf(Math.min(...turns))]
  }

  function take(keys: Holder): Promise<Release | undefined> {
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

  return { acquire: take, close }
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
