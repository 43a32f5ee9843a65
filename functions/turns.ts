import { Failure } from './domain/failure.ts'

/** Ends a turn; a second call does nothing. */
export type EndTurn = () => void

/** Whom a turn is counted for. */
export interface Keys {
  readonly namespace: string
  readonly host: string
  /** Tells resources apart: one place to wait for each. */
  readonly resource: string
}

/** How many there may be, over all and of one kind. */
export interface Bound {
  readonly total: number
  readonly perNamespace: number
  /** More than for a namespace: most tenants share a host. */
  readonly perHost: number
}

export interface Bounds {
  /** Turns at once. */
  readonly turns: Bound
  /** Places to wait. */
  readonly places: Bound
}

/** Hands out turns. */
export interface Turns {
  /**
   * Waits for a turn. Answers undefined where the same resource waits already. Throws Busy (a Failure with the
   * reason Conflict) at once where too many wait, or when it is closed meanwhile.
   */
  readonly take: (keys: Keys) => Promise<EndTurn | undefined>
  /** Sends away who waits and who comes; turns that are taken go on. */
  readonly close: () => void
}

interface Waiter {
  readonly keys: Keys
  readonly start: (end: EndTurn) => void
  readonly leave: (failure: Failure) => void
}

/**
 * Bounds attempts in flight, fairly: the next turn goes to the namespace that has the fewest, first come first
 * served within it; no namespace and no host (one that hangs, say) ever holds more than its share, of turns and
 * of places to wait.
 */
export function turnstile(bounds: Bounds): Turns {
  const running: Keys[] = []
  let waiters: readonly Waiter[] = []
  let closed = false

  function hasRoom(keys: Keys): boolean {
    return isWithin(bounds.turns, running, keys)
  }

  function begin(keys: Keys): EndTurn {
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

  function take(keys: Keys): Promise<EndTurn | undefined> {
    if (closed) return Promise.reject(busy())
    if (hasRoom(keys)) return Promise.resolve(begin({ ...keys }))
    const waiting = waiters.map((waiter) => waiter.keys)
    if (waiting.some(({ resource }) => resource === keys.resource)) return Promise.resolve(undefined)
    if (!isWithin(bounds.places, waiting, keys)) return Promise.reject(busy())
    const { promise, resolve, reject } = Promise.withResolvers<EndTurn>()
    waiters = [...waiters, { keys: { ...keys }, start: resolve, leave: reject }]
    return promise
  }

  function close(): void {
    closed = true
    for (const { leave } of waiters) leave(busy())
    waiters = []
  }

  return { take, close }
}

/** Is there room for one more? */
function isWithin(bound: Bound, list: readonly Keys[], keys: Keys): boolean {
  const ofHost = list.filter(({ host }) => host === keys.host).length
  return list.length < bound.total && ofNamespace(list, keys) < bound.perNamespace && ofHost < bound.perHost
}

function ofNamespace(list: readonly Keys[], keys: Keys): number {
  return list.filter(({ namespace }) => namespace === keys.namespace).length
}

function busy(): Failure {
  return new Failure('Conflict', 'Too many attempts wait for their turn; it is tried again.')
}
