import type { Release } from '../../domain/network/budget.ts'
import { openFairQueue } from '../../domain/sharing/fair-queue.ts'
import { countInProportion } from '../../domain/sharing/taken-time.ts'
import type { KnownWriter } from './known-writers.ts'

/** How long a login keeps others from the branch. Not longer: their server may be slow with it alone. */
export const LONGEST_TURN_MS = 2_000
/**
 * The same of one that may be the slow one: there may be ten of them. One that is known to take less than a turn has all of it: others
 * would take its tip again and again. One that is known to take longer keeps none of those waiting: they take its tip in any case.
 */
export const SUSPECTS_TURN_MS = 500
/**
 * How long one that is known to take longer keeps its like from the branch: many at once would take each other's tip, and what the
 * server does for all of them makes each one slower.
 */
const SLOW_TURN_MS = 4_000
/** A push may take longer than is usual for its size, because others take its tip: of that, little counts as taken. */
const USUAL = 4
const COUNTED = 1 / 4

/** Milliseconds, or that it may be the slow one, of which nothing is known. */
export type Slow = number | 'unknown'

/** Who writes to a branch. */
export interface BranchWriter extends KnownWriter {
  /** How long its next push is likely to take, by its size, in milliseconds; default: no time. */
  readonly likelyMs?: number | undefined
  /** How long the host is likely to look at it besides: others go first, and it waits for longer; default: no time. */
  readonly slowMs?: Slow | undefined
  /** Whether several namespaces share its push. */
  readonly isShared?: boolean | undefined
}

/** Waits in a line for a branch. The result gives the place back. Rejects if the signal fires before. */
type Line = (writer: BranchWriter, signal: AbortSignal) => Promise<Release>

/** Those who have moved a branch, and those who never have. */
export interface Lines {
  readonly known: Line
  readonly strangers: Line
  /** Known ones that wait or have their turn. */
  readonly ahead: Set<Promise<undefined>>
  /** When each namespace was last let through, by the clock. */
  readonly passed: Map<string, number>
  /** Logins that use these lines. */
  users: number
}

/** Empty lines, for one branch. `elapsed`: milliseconds of a clock that is never set. */
export function makeLines(elapsed: () => number): Lines {
  const [known, strangers] = [lineOf(elapsed), lineOf(elapsed)]
  return { known, strangers, ahead: new Set(), passed: new Map(), users: 0 }
}

/** Those who are slow wait for each other, and then for a turn like all, which is over at once. */
function lineOf(elapsed: () => number): Line {
  const all = queueOf(LONGEST_TURN_MS, elapsed)
  const slow = queueOf(SLOW_TURN_MS, elapsed)
  return async function enter(writer, signal) {
    if (!isSlow(writer)) return all(writer, signal)
    const leave = await slow(writer, signal)
    try {
      const pass = await all(writer, signal)
      pass()
    } catch (error) {
      leave()
      throw error
    }
    const timer = setTimeout(leave, SLOW_TURN_MS)
    return () => {
      clearTimeout(timer)
      leave()
    }
  }
}

/** Places of one after the other, in equal parts of the time. */
function queueOf(mostMs: number, elapsed: () => number): Line {
  const queue = openFairQueue(1, { elapsed, taken: countInProportion(mostMs) })
  return async function enter(writer, signal) {
    const { likelyMs = 0, slowMs = 0 } = writer
    const heldMs = slowMs === 'unknown' ? SUSPECTS_TURN_MS : slowMs
    const leave = await queue.enter(ownerOf(writer), signal, 'last', likelyMs + COUNTED * heldMs)
    const began = elapsed()
    return () => leave(Math.max(USUAL * likelyMs, COUNTED * (elapsed() - began)))
  }
}

/** Whether it is known to take longer than a turn. */
export function isSlow({ slowMs = 0 }: BranchWriter): boolean {
  return slowMs !== 'unknown' && slowMs > LONGEST_TURN_MS
}

/** Who takes a turn for several namespaces takes one for each, until the first of them has it (first-session.ts). */
export function ownerOf({ namespaces, login }: BranchWriter): string {
  const [first = login] = namespaces
  return first
}
