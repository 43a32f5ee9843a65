import { Failure } from '../../domain/failure.ts'
import type { Release } from '../../domain/network/budget.ts'
import type { Holder } from '../../world.ts'
import { ALL, isWithin, makeTally, NOTHING, type Amounts } from './amounts.ts'
import type { Cost } from './cost.ts'
import type { LaneBounds, WaitingBound } from './lane-bounds.ts'

/** What one piece of work holds. */
export interface Hold {
  /** Ends the work, which now only waits: of its share this many bytes are kept, and no place among those at work. */
  readonly park: (bytes: number) => void
  readonly release: Release
}

/** One kind of work that draws on the budget. */
export interface Lane {
  /**
   * Waits until the work may start. Returns undefined if the same resource already waits. Throws a Failure with the
   * reason Conflict at once if too many wait, and later if the lane is closed or `signal` fires while it waits. A holder
   * that was admitted before may always wait, also in a closed lane.
   */
  readonly acquire: (cost: Cost, holder: Holder, signal?: AbortSignal) => Promise<Hold | undefined>
  /** Refuses all who wait and all who come later, unless they were admitted before; what is held stays held. */
  readonly close: () => void
  /** The resources at work. */
  readonly inHand: () => readonly string[]
  readonly figures: () => LaneFigures
}

/** How busy a lane is. */
export interface LaneFigures {
  readonly running: number
  readonly waiting: number
  /** How long the first of those that wait has waited; 0 without one. */
  readonly oldestSeconds: number
  /** Of the budget, also by those that only wait for something else. */
  readonly heldBytes: number
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
  /** By performance.now(). */
  readonly since: number
  readonly start: (hold: Hold) => void
  readonly reject: (failure: Failure) => void
}

const MIB = 1024 * 1024

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

  function hold(holder: Holder, amounts: Amounts): Hold {
    const keys = [ALL, ...keysOf(holder)]
    let kept = amounts
    take(kept)
    holders.add(holder)

    function take(more: Amounts): void {
      for (const key of keys) held.add(key, more)
      shelf.take(more)
    }

    function change(next: Amounts): void {
      const before = kept
      if (before === NOTHING) return
      kept = next
      holders.delete(holder)
      // Taken first: what is kept is nobody else's for a moment.
      take(next)
      for (const key of keys) held.subtract(key, before)
      shelf.giveBack(before)
    }

    return {
      park: (bytes) => change({ count: 0, memoryMiB: bytes / MIB, diskMiB: 0 }),
      release: () => change(NOTHING),
    }
  }

  function remove(waiter: Waiter): void {
    waiters = waiters.filter((other) => other !== waiter)
  }

  function acquire(cost: Cost, holder: Holder, signal?: AbortSignal): Promise<Hold | undefined> {
    const { admitted = false } = holder
    if ((closed && !admitted) || signal?.aborted === true) return Promise.reject(busy())
    if (waiters.some((other) => other.holder.resource === holder.resource)) return Promise.resolve(undefined)
    const { promise, resolve, reject } = Promise.withResolvers<Hold>()
    const since = performance.now()
    const waiter = { amounts: shelf.amountsOf(cost), holder: { ...holder }, since, start: resolve, reject }
    const mayWait = admitted || hasPlace(bounds.waiting, waiters, holder)
    waiters = [...waiters, waiter]
    serve()
    if (!waiters.includes(waiter)) return promise
    if (mayWait) return signal === undefined ? promise : unlessGivenUp(promise, waiter, signal)
    remove(waiter)
    return Promise.reject(busy())
  }

  async function unlessGivenUp(started: Promise<Hold>, waiter: Waiter, signal: AbortSignal): Promise<Hold> {
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
    const stay = ({ holder }: Waiter): boolean => holder.admitted === true
    for (const { reject } of waiters.filter((waiter) => !stay(waiter))) reject(busy())
    waiters = waiters.filter(stay)
  }

  function figures(): LaneFigures {
    const [first] = waiters
    return {
      running: holders.size,
      waiting: waiters.length,
      oldestSeconds: first === undefined ? 0 : (performance.now() - first.since) / 1000,
      heldBytes: held.of(ALL).memoryMiB * MIB,
    }
  }

  const inHand = (): readonly string[] => [...holders].map(({ resource }) => resource)
  return { lane: { acquire, close, inHand, figures }, serve }
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
