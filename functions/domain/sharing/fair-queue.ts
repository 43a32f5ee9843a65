import { countExcess, LONG, type TakenTime } from './taken-time.ts'
import { openWaitingLine, type Rank, type Waiting } from './waiting-line.ts'

/** Those who wait for a few places. */
export interface FairQueue {
  /**
   * Waits for a place; the result gives it back. Rejects with the signal's reason if it fires before. `expected`: milliseconds for
   * which it is likely to be held, which count as if they were taken.
   */
  readonly enter: (owner: string, signal: AbortSignal, rank?: Rank, expected?: number) => Promise<Leave>
  readonly hasRoom: () => boolean
  /** Whether somebody waits whom this owner should let go before, if it has a place. */
  readonly othersWait: (owner: string) => boolean
  /**
   * Whether this owner may go on with a place for another turn: nobody waits who has taken less than it has until now, with the places
   * that it still has, and none is lent to it that it would not get now.
   */
  readonly mayGoOn: (owner: string) => boolean
}

/** Gives a place back. `mostMs`: of the time for which it was held, no more than this counts as taken by its owner. */
export interface Leave {
  (mostMs?: number): void
  /** Until it is given back, it is a place more for an owner who has none and has taken little. */
  readonly lend: () => void
}

/** What a queue may be made with. */
export interface QueueTerms {
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number
  /** Told when somebody begins to wait. */
  readonly waits?: () => void
  /** Hands over a place that was given back; default: at once. The next one is chosen when it calls `next`. */
  readonly handOver?: (next: () => void) => void
  /** One place more, for an owner who has none while another one has all. Default: there is none. */
  readonly spare?: boolean
  /** How many may have a place at once where some are lent. Default: none is. */
  readonly most?: number
  /** What owners have taken; default: LONG. */
  readonly taken?: TakenTime
}

/** A place that somebody has. */
interface HeldPlace {
  /** Until then the time for which it is held has been counted. */
  counted: number
  /** Its holder has come before all. */
  readonly isFirst: boolean
  isLent: boolean
}

/**
 * Next is an owner who has taken the least time; those who have taken about as much take turns, however much each of them
 * has to do. So whoever has taken little waits for one turn, whatever the others do.
 */
export function openFairQueue(
  places: number,
  {
    elapsed,
    waits = () => undefined,
    handOver = (next) => next(),
    spare = false,
    most = places,
    taken = countExcess(LONG, elapsed),
  }: QueueTerms,
): FairQueue {
  const line = openWaitingLine<HeldPlace>(taken, waits)
  const held = new Map<string, Set<HeldPlace>>()
  /** Places that are held, or about to be handed over. */
  let used = 0
  let lent = 0
  const lately = countExcess(LONG, elapsed)

  /** Whether there is the spare place, or one that is free. */
  function hasSpare(): boolean {
    return used < places || (spare && used === places && held.size === 1)
  }

  function hasLent(): boolean {
    return used < most && used - lent < places
  }

  /** Who has taken much lately may not: otherwise those with long turns would always be many at once. */
  function mayBorrow(owner: string): boolean {
    return lately.rankOf(owner) <= 0
  }

  function hasRoomFor(owner: string): boolean {
    if (used < places) return true
    return !held.has(owner) && (hasSpare() || (hasLent() && mayBorrow(owner)))
  }

  /** Whether nobody who has come before all still has a place. */
  function mayBeFirst(): boolean {
    return [...held.values()].every((places) => [...places].every(({ isFirst }) => !isFirst))
  }

  function hold(owner: string, isFirst: boolean): HeldPlace {
    const place = { counted: elapsed(), isFirst, isLent: false }
    used += 1
    held.set(owner, (held.get(owner) ?? new Set()).add(place))
    // Before its time: what it has taken is held against it as before.
    if (!isFirst) taken.begins(owner)
    return place
  }

  function count(owner: string, place: HeldPlace, mostMs = Infinity): void {
    const now = elapsed()
    const milliseconds = Math.min(mostMs, now - place.counted)
    taken.add(owner, milliseconds)
    if (most > places) lately.add(owner, milliseconds)
    place.counted = now
  }

  function give({ owner, rank, start }: Waiting<HeldPlace>): void {
    start(hold(owner, rank === 'first'))
  }

  function serve(): void {
    while (hasSpare() || hasLent()) {
      const next = line.takeNext(hasRoomFor, mayBeFirst())
      if (next === undefined) return
      give(next)
    }
  }

  function leave(owner: string, place: HeldPlace): void {
    const places = held.get(owner)
    places?.delete(place)
    if (places?.size === 0) held.delete(owner)
    if (place.isLent) lent -= 1
    handOver(() => {
      used -= 1
      serve()
    })
  }

  function lend(place: HeldPlace): void {
    if (!place.isLent) lent += 1
    place.isLent = true
    serve()
  }

  return {
    async enter(owner, signal, rank = 'last', expected?: number) {
      signal.throwIfAborted()
      if (!line.has(owner)) taken.waits(owner)
      const place = hasRoomFor(owner)
        ? hold(owner, rank === 'first')
        : await line.wait({ owner, rank, expected }, signal)
      place.counted = elapsed()
      let isHeld = true
      const release = (mostMs = Infinity): void => {
        if (!isHeld) return
        isHeld = false
        count(owner, place, mostMs)
        leave(owner, place)
      }
      return Object.assign(release, { lend: () => isHeld && lend(place) })
    },
    hasRoom: () => used < places,
    othersWait: (owner) => line.hasOthers(owner),
    mayGoOn(owner) {
      for (const place of held.get(owner) ?? []) count(owner, place)
      if ((used > places && !mayBorrow(owner)) || line.isBehind(owner, mayBeFirst())) return false
      taken.begins(owner)
      return true
    },
  }
}
