import { Failure } from '../../domain/failure.ts'
import type { Holder } from '../../world.ts'
import type { Amounts } from './amounts.ts'
import type { FairShares } from './fair-shares.ts'
import type { WaitingHolder } from './lane-bounds.ts'
import { lookAgain } from './look-again.ts'

/** How long a namespace that holds nothing waits for its first share, in milliseconds. */
const PATIENCE_MS = 1_000
/** For how long a share gives way to nobody, however many wait, in milliseconds. */
const OWN_MS = 10_000
/** How long a namespace counts as slow of which a share had to give way. */
const SLOW_MS = 10 * 60_000

/** A share that is held. */
export interface HeldShare {
  readonly holder: Holder
  amounts: Amounts
  /** By the clock of the lane, in milliseconds. */
  readonly since: number
  /** It has been asked to give way. */
  isAsked: boolean
}

/** The lane in which shares give way. */
export interface GivingWayParts {
  readonly fair: FairShares
  readonly shares: Iterable<HeldShare>
  /** Those that wait now. */
  readonly waiters: () => readonly WaitingHolder[]
  /** As of LaneBounds. */
  readonly ownMs?: number | undefined
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number
}

/** Finds out whose shares give way to others. */
export interface GivingWay {
  /** Somebody waits: has shares give way for as long as there are namespaces that hold nothing and have waited for long. */
  readonly watch: () => void
  /** The namespaces of which a share had to give way in the last ten minutes. */
  readonly slow: () => readonly string[]
}

/**
 * A server that never answers holds a share until the attempt's deadline, and the namespaces of one tenant together may hold
 * all of them. Then the share that has been held for longest, of the namespace that holds most, gives way once a namespace
 * that holds nothing has waited for a second; but none before it has been held for ten, or `ownMs`, nor for one that has as much
 * memory parked.
 */
export function makeGivingWay({ fair, shares, waiters, ownMs = OWN_MS, now }: GivingWayParts): GivingWay {
  const slowUntil = new Map<string, number>()

  function slow(): readonly string[] {
    for (const [namespace, until] of slowUntil) if (until <= now()) slowUntil.delete(namespace)
    return [...slowUntil.keys()]
  }

  /** Nothing of the namespace is at work, and what it has parked leaves it room. */
  function holdsNothing({ holder, amounts }: WaitingHolder): boolean {
    return fair.heldBy(holder.namespace).count === 0 && fair.hasOwnRoom(holder.namespace, amounts)
  }

  /** The first of each namespace that holds nothing and has waited for long. */
  function starved(): readonly WaitingHolder[] {
    const first = new Map<string, WaitingHolder>()
    for (const waiter of waiters()) {
      const { namespace } = waiter.holder
      if (holdsNothing(waiter) && now() - waiter.since >= PATIENCE_MS && !first.has(namespace))
        first.set(namespace, waiter)
    }
    return [...first.values()]
  }

  /** Whether what this share leaves could be that of the waiter. */
  function makesRoom({ holder }: HeldShare, waiter: WaitingHolder, slow: readonly string[]): boolean {
    const { namespace, host } = waiter.holder
    if (fair.heldBy(namespace).memoryMiB >= fair.heldBy(holder.namespace).memoryMiB) return false
    if (!fair.hasRoomAt(host, waiter.amounts)) return holder.host === host
    return !slow.includes(namespace) || slow.includes(holder.namespace)
  }

  function ask(waiter: WaitingHolder): void {
    const staying = [...shares].filter(({ isAsked }) => !isAsked)
    const byNamespace = Map.groupBy(staying, ({ holder }) => holder.namespace)
    const countOf = ({ holder }: HeldShare): number => byNamespace.get(holder.namespace)?.length ?? 0
    const known = slow()
    const [chosen] = staying
      .filter(({ holder, since }) => holder.giveWay !== undefined && now() - since >= ownMs)
      .filter((share) => makesRoom(share, waiter, known))
      .sort((a, b) => countOf(b) - countOf(a) || a.since - b.since)
    if (chosen === undefined) return
    chosen.isAsked = true
    slowUntil.set(chosen.holder.namespace, now() + SLOW_MS)
    chosen.holder.giveWay?.(gaveWay(ownMs))
  }

  function look(): void {
    const going = [...shares].filter(({ isAsked }) => isAsked).length
    starved().slice(going).forEach(ask)
  }

  return { watch: lookAgain({ isNeeded: () => waiters().some(holdsNothing), look }), slow }
}

function gaveWay(ownMs: number): Failure {
  const message = `The attempt had held its place for more than ${ownMs / 1_000} s, and gave way to those of namespaces that waited for one; Commitlet retries automatically.`
  return new Failure('Timeout', message)
}
