import { makeAllowances } from './allowances.ts'

/** Milliseconds of a processor. */
export interface SlowBounds {
  /** Of each work, those that are not counted. */
  readonly usual: number
  /** What an owner may take beyond that at once. */
  readonly most: number
  /** What comes back in a second. */
  readonly perSecond: number
}

/** What a test replaces. */
export interface SlowClock {
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number
  /** Milliseconds of the processor that we have had: whoever works while others have it pays nothing. */
  readonly taken: () => number
}

/** The shares of owners in what is slow. */
export interface SlowShares {
  /** How long the owner has to wait for more, in milliseconds; 0: not at all. */
  readonly waitOf: (owner: string) => number
  /** Does work, and counts what it takes beyond what is usual. */
  readonly count: <T>(owner: string, work: () => T) => T
}

/** Each owner has a small share of work that is slow, and work that is not takes nothing of it, nor any memory. */
export function shareSlowWork({ usual, most, perSecond }: SlowBounds, clock: SlowClock): SlowShares {
  const { elapsed, taken } = clock
  // Of those alone who have been slow.
  const shares = makeAllowances(most, perSecond, elapsed)

  return {
    waitOf(owner) {
      const left = shares.known(owner)?.left() ?? most
      return left > 0 ? 0 : (1 - left) * (1_000 / perSecond)
    },
    count(owner, work) {
      const before = taken()
      try {
        return work()
      } finally {
        const long = taken() - before - usual
        if (long > 0) shares.of(owner).spend(long)
      }
    },
  }
}
