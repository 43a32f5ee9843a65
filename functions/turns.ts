/** Thrown where the waiting list is full: the caller answers 503 and the sweep or the sender comes again. */
export class Busy extends Error {}

/** Ends a turn; a second call does nothing. */
export type EndTurn = () => void

/** Waits for a turn under these keys. Throws Busy at once where too many wait already. */
export type TakeTurn = (keys: Keys) => Promise<EndTurn>

/** Whom a turn is counted for. */
export interface Keys {
  readonly namespace: string
  readonly host: string
}

export interface Bounds {
  /** Turns at once, over all. */
  readonly total: number
  /** Turns at once for one namespace, and for one host. */
  readonly share: number
  /** Places to wait, over all and for one namespace. */
  readonly waiting: number
  readonly waitingShare: number
}

interface Waiter extends Keys {
  readonly start: () => void
}

/**
 * Bounds attempts in flight, fairly: the next turn goes to the namespace that has the fewest, first come first
 * served within it; no namespace and no host (one that hangs, say) ever holds more than its share.
 */
export function turnstile(bounds: Bounds): TakeTurn {
  const inFlight = new Map<string, number>()
  const waiters: Waiter[] = []
  let total = 0

  function held(key: string): number {
    return inFlight.get(key) ?? 0
  }

  function hasRoom(keys: Keys): boolean {
    if (total >= bounds.total) return false
    return held(`namespace ${keys.namespace}`) < bounds.share && held(`host ${keys.host}`) < bounds.share
  }

  function count(keys: Keys, by: 1 | -1): void {
    total += by
    for (const key of [`namespace ${keys.namespace}`, `host ${keys.host}`]) {
      const left = held(key) + by
      if (left === 0) inFlight.delete(key)
      else inFlight.set(key, left)
    }
  }

  function begin(keys: Keys): EndTurn {
    let over = false
    count(keys, 1)
    return function end() {
      if (over) return
      over = true
      count(keys, -1)
      wake()
    }
  }

  function wake(): void {
    const ready = waiters.filter(hasRoom)
    const first = ready.reduce<Waiter | undefined>((best, waiter) => {
      if (best === undefined) return waiter
      return held(`namespace ${waiter.namespace}`) < held(`namespace ${best.namespace}`) ? waiter : best
    }, undefined)
    if (first === undefined) return
    waiters.splice(waiters.indexOf(first), 1)
    first.start()
  }

  return function take(keys) {
    if (hasRoom(keys)) return Promise.resolve(begin(keys))
    const mine = waiters.filter((waiter) => waiter.namespace === keys.namespace).length
    if (waiters.length >= bounds.waiting || mine >= bounds.waitingShare) return Promise.reject(new Busy())
    return new Promise((resolve) => {
      waiters.push({ ...keys, start: () => resolve(begin(keys)) })
    })
  }
}
