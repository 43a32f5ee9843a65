import { makeAllowances } from './allowances.ts'

/** How the time that an owner has taken counts, in milliseconds. */
export interface Counting {
  /** What an owner may take in a second without coming after others. */
  readonly perSecond: number
  /** Owners who have taken about as much take turns. */
  readonly same: number
  /** The most that is remembered. */
  readonly most: number
}

/** For turns that take long: several in a second are rare. */
export const LONG: Counting = { perSecond: 250, same: 1_000, most: Infinity }
/** For works of some milliseconds, of which many are done in a second: also one of ten who take all of it is known by that. */
export const SHORT: Counting = { perSecond: 10, same: 50, most: 200 }
/**
 * For turns of some 100 ms at a few places: ten owners who use two of them all the time have taken 200 ms a second each, and are
 * known by it. Who has taken much lately waits for no more than ten seconds of each that has not.
 */
export const FEW: Counting = { perSecond: 25, same: 50, most: 10_000 }
/** For shares that servers hold, which may be for as long as an attempt has: a second of them is forgotten in four. */
export const HELD: Counting = { perSecond: 250, same: 1_000, most: 600_000 }

/** The time that owners have taken. */
export interface TakenTime {
  /**
   * Whose turn it is: that of an owner of whom this is least. `expected`: milliseconds that its next turn is likely to take, where
   * that is known before.
   */
  readonly rankOf: (owner: string, expected?: number) => number
  /** The owner begins to wait for one turn. */
  readonly waits: (owner: string) => void
  /** It gets one, whether it has waited or not. */
  readonly begins: (owner: string) => void
  /** Adds the milliseconds of a turn that has ended. */
  readonly add: (owner: string, milliseconds: number) => void
}

/** What owners have taken beyond what is free, each for itself. `elapsed`: milliseconds of a clock that is never set. */
export function countExcess({ perSecond, same, most }: Counting, elapsed: () => number): TakenTime {
  const shares = makeAllowances(0, perSecond, elapsed)
  return {
    rankOf: (owner, expected = 0) => Math.floor((expected - (shares.known(owner)?.left() ?? 0)) / same),
    waits: () => undefined,
    begins: () => undefined,
    add(owner, milliseconds) {
      const share = shares.of(owner)
      share.spend(Math.min(milliseconds, most + share.left()))
    },
  }
}

/** Beyond that, those whom others have caught up with are forgotten. */
const REMEMBERED = 1_000

/** On the clock of `countInProportion`. */
interface Standing {
  /** When the turn that the owner waits for, or has, begins; otherwise when its last one has ended. */
  start: number
  /** What its last one took. */
  took: number
}

/**
 * For one place: those who wait get equal parts of the time, however many they are and however long their turns take, and what was
 * taken while nobody waited is forgotten. Next is the turn that would end first if all were at work at once and each took as long as
 * the one before, or as is expected of it if that is more (Demers, Keshav and Shenker, "Analysis and Simulation of a Fair Queueing
 * Algorithm", 1989). So whoever needs less
 * than its part, in short turns, waits for about one turn of somebody else. Of each turn, `most` milliseconds count.
 */
export function countInProportion(most: number): TakenTime {
  const standings = new Map<string, Standing>()
  let now = 0

  function standingOf(owner: string): Standing {
    const standing = standings.get(owner) ?? { start: now, took: 0 }
    standings.set(owner, standing)
    return standing
  }

  function forget(): void {
    for (const [owner, { start }] of standings) if (start < now) standings.delete(owner)
  }

  return {
    waits(owner) {
      const standing = standingOf(owner)
      standing.start = Math.max(now, standing.start)
    },
    rankOf(owner, expected = 0) {
      const { start, took } = standingOf(owner)
      return start + Math.max(took, expected)
    },
    begins(owner) {
      const standing = standingOf(owner)
      now = Math.max(now, standing.start)
    },
    add(owner, milliseconds) {
      const standing = standingOf(owner)
      standing.took = Math.min(milliseconds, most)
      standing.start += standing.took
      if (standings.size > REMEMBERED) forget()
    },
  }
}

/** How `countWithCredit` counts, in milliseconds. */
export interface Credit {
  /** Owners who have taken about as much take turns. */
  readonly same: number
  /** What an owner may take before those who always wait, once it has taken so much less than its part. */
  readonly credit: number
  /** What counts at once: after a turn of more, no more than this and the credit of each other owner is waited for. */
  readonly most: number
}

/** For calls of APIs, each of which may take 300 ms: those of a usual creation with its details are within the credit. */
export const CALLS: Credit = { same: 50, credit: 3_000, most: 10_000 }

/**
 * For a few places: those who wait get equal parts of the time, however many they are. Next is whose turn would begin first if all were
 * at work at once (Goyal, Vin and Cheng, "Start-time Fair Queueing", 1996), and whoever has taken less than its part begins up to
 * `credit` before those who always wait. So it waits for no turn of each of them, as long as it takes less than its part, and however
 * much it has taken long ago or while nobody waited.
 */
export function countWithCredit({ same, credit, most }: Credit): TakenTime {
  const starts = new Map<string, number>()
  let now = 0

  function startOf(owner: string): number {
    return Math.max(now - credit, starts.get(owner) ?? -Infinity)
  }

  function forget(): void {
    for (const [owner, start] of starts) if (start <= now - credit) starts.delete(owner)
  }

  return {
    rankOf: (owner, expected = 0) => Math.floor((startOf(owner) + expected) / same),
    waits: () => undefined,
    begins(owner) {
      now = Math.max(now, startOf(owner))
    },
    add(owner, milliseconds) {
      starts.set(owner, Math.min(startOf(owner) + milliseconds, now + most))
      if (starts.size > REMEMBERED) forget()
    },
  }
}
