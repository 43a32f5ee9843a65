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
}

/** Gives a place back. `mostMs`: of the time for which it was held, no more than this counts as taken by its owner. */
export type Leave = (mostMs?: number) => void

/** Before which others one waits: none (which is the default), those of the same owner, or all. */
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

/** Who waits. */
interface Entry {
  readonly owner: string
  readonly expected: number | undefined
  readonly start: () => void
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
  const held = new Map<string, number>()
  let free = places
  let hasSpare = spare

  /** Whether this owner has no place, and another one has all. */
  function isKeptOut(owner: string): boolean {
    return free === 0 && held.size === 1 && !held.has(owner)
  }

  function takeNext(isFor: (owner: string) => boolean = () => true): Entry | undefined {
    const first = [...urgent].find(({ owner }) => isFor(owner))
    if (first !== undefined) {
      urgent.delete(first)
      return first
    }
    const [next] = [...waiting]
      .filter(([owner]) => isFor(owner))
      .toSorted(
        ([a, [one]], [b, [other]]) => taken.rankOf(a, one?.expected) - taken.rankOf(b, other?.expected),
      )
    if (next === undefined) return undefined
    const [owner, [entry, ...rest]] = next
    waiting.delete(owner)
    if (rest.length > 0) waiting.set(owner, rest)
    return entry
  }

  async function wait(owner: string, signal: AbortSignal, rank: Rank, expected?: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>()
    const entry = { owner, expected, start: () => resolve(undefined) }
    const own = waiting.get(owner) ?? []
    // Its owner has just had a turn.
    if (rank === 'first of its owner') waiting.delete(owner)
    if (rank === 'first') urgent.add(entry)
    else waiting.set(owner, rank === 'last' ? [...own, entry] : [entry, ...own])
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
      await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  function hold(owner: string, change: 1 | -1): void {
    const count = (held.get(owner) ?? 0) + change
    if (change > 0) taken.begins(owner)
    if (count === 0) held.delete(owner)
    else held.set(owner, count)
  }

  function give({ owner, start }: Entry): void {
    hold(owner, 1)
    start()
  }

  function lendSpare(): void {
    const entry = hasSpare ? takeNext(isKeptOut) : undefined
    if (entry === undefined) return
    hasSpare = false
    give(entry)
  }

  function leave(owner: string, ms: number): void {
    taken.add(owner, ms)
    hold(owner, -1)
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

  return {
    async enter(owner, signal, rank = 'last', expected?: number) {
      signal.throwIfAborted()
      if (!waiting.has(owner)) taken.waits(owner)
      if (free > 0) {
        free -= 1
        hold(owner, 1)
      } else if (hasSpare && isKeptOut(owner)) {
        hasSpare = false
        hold(owner, 1)
      } else await wait(owner, signal, rank, expected)
      const began = elapsed()
      let isHeld = true
      return (mostMs = Infinity) => {
        if (isHeld) leave(owner, Math.min(mostMs, elapsed() - began))
        isHeld = false
      }
    },
    hasRoom: () => free > 0,
    othersWait: (owner) => urgent.size > 0 || [...waiting.keys()].some((other) => other !== owner),
  }
}
