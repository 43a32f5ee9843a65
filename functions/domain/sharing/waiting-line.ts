import type { TakenTime } from './taken-time.ts'

/**
 * Before which others one waits: none (which is the default), those of the same owner and of owners who have taken about as much, or all.
 * The latter is for one place: while somebody has it who came so, the next place is for who has taken the least.
 */
export type Rank = 'last' | 'first of its owner' | 'first'

/** Who waits for a place. */
export interface Waiting<P> {
  readonly owner: string
  readonly rank: Rank
  /** Milliseconds for which the place is likely to be held. */
  readonly expected: number | undefined
  readonly start: (place: P) => void
}

/** Those who wait for places. */
export interface WaitingLine<P> {
  /** Waits for a place. Rejects with the signal's reason if it fires before. */
  readonly wait: (who: Omit<Waiting<P>, 'start'>, signal: AbortSignal) => Promise<P>
  /** Removes and returns the next one for whose owner there is a place. `mayBeFirst`: it may come before all. */
  readonly takeNext: (isFor: (owner: string) => boolean, mayBeFirst: boolean) => Waiting<P> | undefined
  /** Whether somebody waits who comes before others of this owner, by what both have taken. */
  readonly isBehind: (owner: string, mayBeFirst: boolean) => boolean
  /** Whether this owner waits, in the order of all. */
  readonly has: (owner: string) => boolean
  /** Whether somebody waits before all, or another owner does. */
  readonly hasOthers: (owner: string) => boolean
}

/** Next is an owner who has taken the least time; those who have taken about as much take turns. `waits`: told when somebody begins to wait. */
export function openWaitingLine<P>(taken: TakenTime, waits: () => void): WaitingLine<P> {
  // In the order of their next turn.
  const waiting = new Map<string, readonly Waiting<P>[]>()
  const urgent = new Set<Waiting<P>>()

  function rankOf({ owner, expected }: Waiting<P>): number {
    return taken.rankOf(owner, expected)
  }

  /** Those whose owners have taken the least come first. */
  function inOrder(entries: readonly Waiting<P>[]): readonly Waiting<P>[] {
    return entries.toSorted((one, other) => rankOf(one) - rankOf(other))
  }

  /** The next one of each owner. */
  function heads(): readonly Waiting<P>[] {
    return [...waiting.values()].flatMap((entries) => entries.slice(0, 1))
  }

  function line(entry: Waiting<P>): void {
    const { owner, rank } = entry
    const own = waiting.get(owner) ?? []
    if (rank === 'first') urgent.add(entry)
    else if (rank === 'last') waiting.set(owner, [...own, entry])
    else {
      waiting.delete(owner)
      const others = [...waiting]
      waiting.clear()
      const later = own.filter((other) => other.rank === 'last')
      waiting.set(owner, [...own.slice(0, own.length - later.length), entry, ...later])
      for (const [other, entries] of others) waiting.set(other, entries)
    }
  }

  function remove(entry: Waiting<P>): void {
    const { owner } = entry
    urgent.delete(entry)
    const rest = (waiting.get(owner) ?? []).filter((other) => other !== entry)
    if (rest.length > 0) waiting.set(owner, rest)
    else waiting.delete(owner)
  }

  return {
    async wait(who, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<P>()
      const entry = { ...who, start: resolve }
      line(entry)
      waits()
      function giveUp(): void {
        remove(entry)
        reject(signal.reason)
      }
      signal.addEventListener('abort', giveUp, { once: true })
      try {
        return await promise
      } finally {
        signal.removeEventListener('abort', giveUp)
      }
    },
    takeNext(isFor, mayBeFirst) {
      const isNext = ({ owner }: Waiting<P>): boolean => isFor(owner)
      const [first] = inOrder([...urgent].filter(isNext))
      const [next] = inOrder(heads().filter(isNext))
      if (first !== undefined && (next === undefined || mayBeFirst || rankOf(first) <= rankOf(next))) {
        urgent.delete(first)
        return first
      }
      if (next === undefined) return undefined
      const { owner } = next
      remove(next)
      const rest = waiting.get(owner)
      waiting.delete(owner)
      if (rest !== undefined) waiting.set(owner, rest)
      return next
    },
    isBehind(owner, mayBeFirst) {
      const own = taken.rankOf(owner)
      const hasLess = (entry: Waiting<P>): boolean => entry.owner !== owner && rankOf(entry) < own
      return (urgent.size > 0 && mayBeFirst) || [...urgent, ...heads()].some(hasLess)
    },
    has: (owner) => waiting.has(owner),
    hasOthers: (owner) => urgent.size > 0 || [...waiting.keys()].some((other) => other !== owner),
  }
}
