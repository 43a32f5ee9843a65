import { makeAllowance, type Allowance } from '../../../domain/sharing/allowance.ts'
import { REAL, type ThreadClock } from './thread-clock.ts'

/**
 * Milliseconds of works that are longer than a turn, and of calls, which all namespaces that have taken more than a little may have
 * at once.
 */
export const LONG_MS = 100
/** Milliseconds of these that they get back in a second: the thread has as much again to do with what these works make. */
const LONG_PER_SECOND = 300

/** What all namespaces that have taken more than a little have together. */
export function makeTogether(elapsed = REAL.elapsed): Allowance {
  return makeAllowance(LONG_MS, LONG_PER_SECOND, elapsed)
}

/** Waits for as long as it takes until there is more of it. */
export function moreOf(long: Allowance, pause: ThreadClock['pause']): Promise<unknown> {
  return pause((1 - long.left()) * (1_000 / LONG_PER_SECOND))
}
