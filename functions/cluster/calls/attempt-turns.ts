import { makeFairSemaphore } from '../../domain/sharing/semaphores/fair-semaphore.ts'

/**
 * Calls of all attempts that are made at once: one GitCommit may name a hundred objects. With more of them the API server only
 * takes longer for each, and for all else.
 */
export const AT_ONCE = 8

/** Calls in the turn of this namespace; without one, at once. */
export type AttemptTurns = <T>(
  by: { readonly namespace: string } | undefined,
  call: () => Promise<T>,
) => Promise<T>

/** Shares one sort of calls among the namespaces whose attempts make them. `elapsed`: milliseconds of a clock that is never set. */
export function takeTurnsOfAttempts(elapsed: () => number): AttemptTurns {
  const inTurn = makeFairSemaphore(AT_ONCE, elapsed)
  return (by, call) => (by === undefined ? call() : inTurn(by.namespace, call))
}
