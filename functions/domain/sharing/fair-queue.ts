import { countExcess, LONG, type TakenTime } from './taken-time.ts'

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
   * that it still has.
   */
  readonly mayGoOn: (owner: string) => boolean
}

/** Gives a place back. `mostMs`: of the time for which it was held, no more than this counts as taken by its owner. */
export type Leave = (mostMs?: number) => void

/**
 * Before which others one waits: none (which is the default), those of the same owner and of owners who have taken about as much, or all.
 * The latter is for one place: while somebody has it who came so, the next place is for who has taken the least.
 */
export type Rank = 'last' | 'first of its owner' | 'first'

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
  /** What owners have taken; default: LONG. */
  readonly taken?: TakenTime
}

/** A place that somebody has. */
interface HeldPlace {
  /** Until then the time for which it is held has been counted. */
  counted: number
  /** Its holder has come before all. */
  readonly isFirst: boolean
}

/** Who waits. */
interface Entry {
  readonly owner: string
  readonly expected: number | undefined
  readonly isFirst: boolean
  readonly start: (place: HeldPlace) => void
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
    taken = countExcess(LONG, elapsed),
  }: QueueTerms,
): FairQueue {
  // In the order of their next turn.
  const waiting = new Map<string, readonly Entry[]>()
  const urgent = new Set<Entry>()
  const held = new Map<string, Set<HeldPlace>>()
  let free = places
  let hasSpare = spare

  /** Whether this owner has no place, and another one has all. */
  function isKeptOut(owner: string): boolean {
    return free === 0 && held.size === 1 && !held.has(owner)
  }

  function rankOf({ owner, expected }: Entry): number {
    return taken.rankOf(owner, expected)
  }

  /** Those whose owners have taken the least come first. */
  function inOrder(entries: readonly Entry[]): readonly Entry[] {
    return entries.toSorted((one, other) => rankOf(one) - rankOf(other))
  }

  /** The next one of each owner. */
  function heads(): readonly Entry[] {
    return [...waiting.values()].flatMap((entries) => entries.slice(0, 1))
  }

  /** Whether nobody who has come before all still has a place. */
  function mayBeFirst(): boolean {
    return [...held.values()].every((places) => [...places].every(({ isFirst }) => !isFirst))
  }

  function takeNext(isFor: (owner: string) => boolean = () => true): Entry | undefined {
    const isNext = ({ owner }: Entry): boolean => isFor(owner)
    const [first] = inOrder([...urgent].filter(isNext))
    const [next] = inOrder(heads().filter(isNext))
    if (first !== undefined && (next === undefined || mayBeFirst() || rankOf(first) <= rankOf(next))) {
      urgent.delete(first)
      return first
    }
    if (next === undefined) return undefined
    const { owner } = next
    const [, ...rest] = waiting.get(owner) ?? []
    waiting.delete(owner)
    if (rest.length > 0) waiting.set(owner, rest)
    return next
  }

  function line(entry: Entry, rank: Rank): void {
    const { owner } = entry
    const own = waiting.get(owner) ?? []
    if (rank === 'first') urgent.add(entry)
    else if (rank === 'last') waiting.set(owner, [...own, entry])
    else {
      waiting.delete(owner)
      const others = [...waiting]
      waiting.clear()
      waiting.set(owner, [entry, ...own])
      for (const [other, entries] of others) waiting.set(other, entries)
    }
  }

  async function wait(owner: string, signal: AbortSignal, rank: Rank, expected?: number): Promise<HeldPlace> {
    const { promise, resolve, reject } = Promise.withResolvers<HeldPlace>()
    const entry = { owner, expected, isFirst: rank === 'first', start: resolve }
    line(entry, rank)
    waits()
    function giveUp(): void {
      urgent.delete(entry)
      const rest = (waiting.get(owner) ?? []).filter((other) => other !== entry)
      if (rest.length > 0) waiting.set(owner, rest)
      else waiting.delete(owner)
      reject(signal.reason)
    }
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  function hold(owner: string, isFirst: boolean): HeldPlace {
    const place = { counted: elapsed(), isFirst }
    held.set(owner, (held.get(owner) ?? new Set()).add(place))
    // Before its time: what it has taken is held against it as before.
    if (!isFirst) taken.begins(owner)
    return place
  }

  function count(owner: string, place: HeldPlace, most = Infinity): void {
    const now = elapsed()
    taken.add(owner, Math.min(most, now - place.counted))
    place.counted = now
  }

  function give({ owner, isFirst, start }: Entry): void {
    start(hold(owner, isFirst))
  }

  function lendSpare(): void {
    const entry = hasSpare ? takeNext(isKeptOut) : undefined
    if (entry === undefined) return
    hasSpare = false
    give(entry)
  }

  function leave(owner: string, place: HeldPlace): void {
    const places = held.get(owner)
    places?.delete(place)
    if (places?.size === 0) held.delete(owner)
    if (spare && !hasSpare) {
      hasSpare = true
      lendSpare()
      return
    }
    handOver(() => {
      const entry = takeNext()
      if (entry === undefined) free += 1
      else give(entry)
      lendSpare()
    })
  }

  function takeAtOnce(owner: string, rank: Rank): HeldPlace | undefined {
    if (free > 0) free -= 1
    else if (hasSpare && isKeptOut(owner)) hasSpare = false
    else return undefined
    return hold(owner, rank === 'first')
  }

  return {
    async enter(owner, signal, rank = 'last', expected?: number) {
      signal.throwIfAborted()
      if (!waiting.has(owner)) taken.waits(owner)
      const place = takeAtOnce(owner, rank) ?? (await wait(owner, signal, rank, expected))
      place.counted = elapsed()
      let isHeld = true
      return (mostMs = Infinity) => {
        if (!isHeld) return
        isHeld = false
        count(owner, place, mostMs)
        leave(owner, place)
      }
    },
    hasRoom: () => free > 0,
    othersWait: (owner) => urgent.size > 0 || [...waiting.keys()].some((other) => other !== owner),
    mayGoOn(owner) {
      for (const place of held.get(owner) ?? []) count(owner, place)
      const own = taken.rankOf(owner)
      const hasLess = (entry: Entry): boolean => entry.owner !== owner && rankOf(entry) < own
      if ((urgent.size > 0 && mayBeFirst()) || [...urgent, ...heads()].some(hasLess)) return false
      taken.begins(owner)
      return true
    },
  }
}
