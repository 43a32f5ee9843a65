import { openFairQueue } from '../../domain/sharing/fair-queue.ts'

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
  const turns = openFairQueue(AT_ONCE, { elapsed })
  return async function inTurn(by, call) {
    if (by === undefined) return call()
    // Who has given up is called for as well: others may wait for the same answer.
    const leave = await turns.enter(by.namespace, new AbortController().signal)
    return call().finally(leave)
  }
}
