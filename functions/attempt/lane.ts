import { Failure } from '../domain/failure.ts'
import type { Release } from '../domain/network/budget.ts'
import type { Acquire, Cost, Holder } from '../world.ts'
import { ALL, isWithin, makeTally, type Amounts } from './amounts.ts'

/** What may be held: in total, by one namespace and at one host. */
export interface HeldBound {
  readonly total: Amounts
  readonly perNamespace: Amounts
  /** Higher than for a namespace: most tenants share a host. */
  readonly perHost: Amounts
}

/** How many may wait: in total, of one namespace and for one host. */
export interface WaitingBound {
  readonly total: number
  readonly perNamespace: number
  readonly perHost: number
}

export interface LaneBounds {
  readonly held: HeldBound
  readonly waiting: WaitingBound
}

/** One kind of work that draws on the budget. */
export interface Lane {
  /**
   * Waits until the work may start, and returns how its share is given back. Returns undefined if the same resource
   * already waits. Throws a Failure with the reason Conflict at once if too many wait, and later if the lane is closed
   * or `signal` fires while it waits.
   */
  readonly acquire: Acquire
  /** Refuses all who wait and all who come later; what is held stays held. */
  readonly close: () => void
  /** The resources that hold a share. */
  readonly inHand: () => readonly string[]
}

/** What all lanes take from. */
export interface Shelf {
  readonly amountsOf: (cost: Cost) => Amounts
  readonly hasRoom: (amounts: Amounts) => boolean
  readonly take: (amounts: Amounts) => void
  /** Serves all lanes afterwards. */
  readonly giveBack: (amounts: Amounts) => void
}

interface Waiter {
  readonly amounts: Amounts
  readonly holder: Holder
  readonly start: (release: Release) => void
  readonly reject: (failure: Failure) => void
}

/**
 * A fair lane: the next to start belongs to the namespace that holds the least memory in it, first come first served
 * among equals. No namespace and no host (such as one that hangs) exceeds its share of what is held or of the places to
 * wait. Where there is no room for the next, nobody overtakes it: many small shares do not keep a large one waiting.
 * `serve` starts those for whom there is room by now.
 */
export function makeLane(
  bounds: LaneBounds,
  shelf: Shelf,
): { readonly lane: Lane; readonly serve: () => void } {
  const { total, perNamespace, perHost } = bounds.held
  const held = makeTally()
  const holders = new Set<Holder>()
  let waiters: readonly Waiter[] = []
  let closed = false

  function isWithinShares({ holder, amounts }: Waiter): boolean {
    const [namespace, host] = keysOf(holder)
    return isWithin(perNamespace, held.of(namespace), amounts) && isWithin(perHost, held.of(host), amounts)
  }

  function next(): Waiter | undefined {
    const candidates = waiters.filter(isWithinShares)
    const holdings = candidates.map(({ holder }) => held.of(keysOf(holder)[0]).memoryMiB)
    return candidates[holdings.indexOf(Math.min(...holdings))]
  }

  function serve(): void {
    for (let first = next(); first !== undefined; first = next()) {
      const { amounts, holder, start } = first
      if (!isWithin(total, held.of(ALL), amounts) || !shelf.hasRoom(amounts)) return
      remove(first)
      start(hold(holder, amounts))
    }
  }

  function hold(holder: Holder, amounts: Amounts): Release {
    const keys = [ALL, ...keysOf(holder)]
    for (const key of keys) held.add(key, amounts)
    shelf.take(amounts)
    holders.add(holder)
    let isHeld = true
    return function release() {
      if (!isHeld) return
      isHeld = false
      holders.delete(holder)
      for (const key of keys) held.subtract(key, amounts)
      shelf.giveBack(amounts)
    }
  }

  function remove(waiter: Waiter): void {
    waiters = waiters.filter((other) => other !== waiter)
  }

  function acquire(cost: Cost, holder: Holder, signal?: AbortSignal): Promise<Release | undefined> {
    if (closed || signal?.aborted === true) return Promise.reject(busy())
    if (waiters.some((other) => other.holder.resource === holder.resource)) return Promise.resolve(undefined)
    const { promise, resolve, reject } = Promise.withResolvers<Release>()
    const waiter = { amounts: shelf.amountsOf(cost), holder: { ...holder }, start: resolve, reject }
    const mayWait = hasPlace(bounds.waiting, waiters, holder)
    waiters = [...waiters, waiter]
    serve()
    if (!waiters.includes(waiter)) return promise
    if (mayWait) return signal === undefined ? promise : unlessGivenUp(promise, waiter, signal)
    remove(waiter)
    return Promise.reject(busy())
  }

  async function unlessGivenUp(
    started: Promise<Release>,
    waiter: Waiter,
    signal: AbortSignal,
  ): Promise<Release> {
    function giveUp(): void {
      remove(waiter)
      waiter.reject(busy())
      // Others may have waited behind it.
      serve()
    }
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      return await started
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  function close(): void {
    closed = true
    for (const { reject } of waiters) reject(busy())
    waiters = []
  }

  return { lane: { acquire, close, inHand: () => [...holders].map(({ resource }) => resource) }, serve }
}

function keysOf({ namespace, host }: Holder): readonly [namespace: string, host: string] {
  return [`namespace ${namespace}`, `host ${host}`]
}

function hasPlace(bound: WaitingBound, waiters: readonly Waiter[], { namespace, host }: Holder): boolean {
  const ofNamespace = waiters.filter(({ holder }) => holder.namespace === namespace).length
  const ofHost = waiters.filter(({ holder }) => holder.host === host).length
  return waiters.length < bound.total && ofNamespace < bound.perNamespace && ofHost < bound.perHost
}

function busy(): Failure {
  return new Failure('Conflict', 'Too many attempts are waiting to start; Commitlet retries automatically.')
}
