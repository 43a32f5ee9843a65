import { Failure } from '../../domain/failure.ts'
import type { Release } from '../../domain/network/budget.ts'
import { countExcess, HELD } from '../../domain/sharing/taken-time.ts'
import type { Holder } from '../../world.ts'
import { NOTHING, sum, type Amounts } from './amounts.ts'
import type { Cost } from './cost.ts'
import { openFairShares } from './fair-shares.ts'
import { makeGivingWay, type HeldShare } from './giving-way.ts'
import type { LaneBounds, LaneFigures, Shelf, WaitingHolder } from './lane-bounds.ts'
import { beginOneByOne } from './one-by-one.ts'
import { busy, inLine, placeFor, tooMuch } from './waiting-places.ts'

/** What one piece of work holds. */
export interface Hold {
  /** The work goes on, and takes no more than this from now on. */
  readonly shrink: (cost: Cost) => void
  /**
   * Ends the work, which now only waits: of its share this many bytes are kept, and no place among those at work. Throws
   * Conflict, and changes nothing, where that is more than before and more than is fair.
   */
  readonly park: (bytes: number) => void
  readonly release: Release
}

/** One kind of work that draws on the budget. */
export interface Lane {
  /**
   * Waits until the work may start. Returns undefined if the same resource already waits. Throws a Failure with the
   * reason Conflict at once if too many wait, and later if the lane is closed, `signal` fires while it waits, or others need
   * its place to wait more. A holder that was admitted before may always wait, also in a closed lane.
   */
  readonly acquire: (cost: Cost, holder: Holder, signal?: AbortSignal) => Promise<Hold | undefined>
  /** Refuses all who wait and all who come later, unless they were admitted before; what is held stays held. */
  readonly close: () => void
  /** The resources at work. */
  readonly inHand: () => readonly string[]
  readonly figures: () => LaneFigures
}

/** A lane, and what the others need of it. */
export interface OpenLane {
  readonly lane: Lane
  /** Starts those for whom there is room by now. */
  readonly serve: () => void
  /** As of GivingWay. */
  readonly watch: () => void
  /** Those that wait now. */
  readonly waiters: () => readonly WaitingHolder[]
}

interface Waiter extends WaitingHolder {
  /** Its namespace, and what it takes: of the same, the first one is next that has a share at its host. */
  readonly kind: string
  /** The same, and its host: of these, all have a share there, or none has. */
  readonly kindAtHost: string
  readonly start: (hold: Hold) => void
  readonly reject: (failure: Failure) => void
}

const MIB = 1024 * 1024

/**
 * A fair lane: the next to start belongs to the namespace that holds the least memory in it; among equals, to one that has
 * held shares for less time lately, first come first served. No namespace and no host (such as one that hangs) exceeds its
 * share of what is held or of the places to wait; those that had to give way to others have a quarter, all together
 * (giving-way.ts). Where there is no room for the next, nobody overtakes it: many small shares do not keep a large one
 * waiting. But it keeps nobody waiting who has room if the end of all work here would leave it none: what is parked, and what
 * other lanes hold, may be held for as long as an attempt has.
 */
export function makeLane(
  bounds: LaneBounds,
  shelf: Shelf,
  now: () => number = () => performance.now(),
): OpenLane {
  const fair = openFairShares(bounds.held, shelf)
  const shares = new Set<HeldShare>()
  let waiters: readonly Waiter[] = []
  const all = (): readonly WaitingHolder[] => [...waiters, ...shelf.waitElsewhere()]
  const way = makeGivingWay({ fair, shares, waiters: all, ownMs: bounds.ownMs, now })
  const { isBusy } = shelf
  const oneByOne = bounds.oneByOne && beginOneByOne({ shares, waiters: () => waiters, isBusy, serve, now })
  const lately = countExcess(HELD, now)
  const heldBy = ({ holder }: Waiter): number => fair.heldBy(holder.namespace).memoryMiB
  const rankOf = ({ holder }: Waiter): number => lately.rankOf(holder.namespace)
  let closed = false

  /** Whether there is room; `freed`: as if this had been given back. */
  const hasRoom = ({ amounts }: Waiter, freed = NOTHING): boolean =>
    fair.hasRoom(amounts, freed) && shelf.hasRoom(amounts, freed)

  /** The next one that has room, now or once those at work have ended. */
  function next(): Waiter | undefined {
    const slow = way.slow()
    const working = [...shares].map((share) => share.amounts).reduce(sum, NOTHING)
    const candidates: Waiter[] = []
    const judged = new Set<string>()
    for (const waiter of waiters) {
      const { kind, kindAtHost, holder, amounts } = waiter
      if (judged.has(kind) || judged.has(kindAtHost)) continue
      const isFair =
        fair.hasShare(holder.namespace, amounts, slow) && oneByOne?.mustWait(holder.namespace) !== true
      const isNext = isFair && fair.hasShareAt(holder, amounts)
      if (isNext) candidates.push(waiter)
      judged.add(isNext || !isFair ? kind : kindAtHost)
    }
    return candidates
      .toSorted((a, b) => heldBy(a) - heldBy(b) || rankOf(a) - rankOf(b))
      .find((waiter) => hasRoom(waiter, working))
  }

  function serve(): void {
    for (let first = next(); first !== undefined; first = next()) {
      if (!hasRoom(first)) return
      const { amounts, holder, start } = first
      remove(first)
      start(hold(holder, amounts))
    }
  }

  function hold(holder: Holder, amounts: Amounts): Hold {
    const share = { holder, amounts, since: now(), isAsked: false }
    let kept = amounts
    take(kept)
    shares.add(share)

    function take(more: Amounts): void {
      fair.add(holder, more)
      shelf.take(more)
    }

    function change(next: Amounts, goesOn = false): void {
      const before = kept
      if (before === NOTHING) return
      kept = next
      if (!goesOn && shares.delete(share)) lately.add(holder.namespace, now() - share.since)
      // Taken first: what is kept is nobody else's for a moment.
      take(next)
      fair.subtract(holder, before)
      shelf.giveBack(before)
    }

    return {
      shrink(cost) {
        const next = shelf.amountsOf(cost)
        if (!shares.has(share) || next.memoryMiB >= kept.memoryMiB) return
        share.amounts = next
        change(next, true)
      },
      park(bytes) {
        const next = { count: 0, memoryMiB: bytes / MIB, diskMiB: 0 }
        if (kept !== NOTHING && !fair.mayKeep(holder, { before: kept, next }, way.slow())) throw tooMuch()
        change(next)
      },
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
    const amounts = shelf.amountsOf(cost)
    const kind = JSON.stringify([holder.namespace, amounts])
    const kindAtHost = `${kind} ${holder.host}`
    const waiter = { kind, kindAtHost, amounts, holder: { ...holder }, since: now(), start: resolve, reject }
    const others = waiters
    waiters = inLine(others, waiter)
    serve()
    if (!waiters.includes(waiter)) return promise
    shelf.watch()
    oneByOne?.watch()
    const place = admitted ? 'free' : placeFor(bounds.waiting, others, holder)
    if (place === 'none') giveUp(waiter)
    else if (place !== 'free') giveUp(place)
    return signal === undefined ? promise : unlessGivenUp(promise, waiter, signal)
  }

  function giveUp(waiter: Waiter): void {
    if (!waiters.includes(waiter)) return
    remove(waiter)
    waiter.reject(busy())
    // Others may have waited behind it.
    serve()
  }

  async function unlessGivenUp(started: Promise<Hold>, waiter: Waiter, signal: AbortSignal): Promise<Hold> {
    const leave = (): void => giveUp(waiter)
    signal.addEventListener('abort', leave, { once: true })
    try {
      return await started
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  function close(): void {
    closed = true
    const stay = ({ holder }: Waiter): boolean => holder.admitted === true
    for (const { reject } of waiters.filter((waiter) => !stay(waiter))) reject(busy())
    waiters = waiters.filter(stay)
  }

  function figures(): LaneFigures {
    const oldest = Math.min(...waiters.map(({ since }) => since))
    return {
      running: shares.size,
      waiting: waiters.length,
      oldestSeconds: waiters.length === 0 ? 0 : (now() - oldest) / 1000,
      heldBytes: fair.held().memoryMiB * MIB,
    }
  }

  const inHand = (): readonly string[] => [...shares].map(({ holder }) => holder.resource)
  return { lane: { acquire, close, inHand, figures }, serve, watch: way.watch, waiters: () => waiters }
}
