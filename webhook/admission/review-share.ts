import { makeKeyedSemaphore } from '../../functions/domain/sharing/keyed-semaphore.ts'

/** Calls for the reviews of one namespace that are made at once. The API server is asked for 64 at once, for all of them. */
const MOST_AT_ONCE = 16

/** Asks once the namespace has less than its share under way. Rejects with the signal's reason if that has fired. */
export type ReviewShare = <T>(namespace: string, signal: AbortSignal, ask: () => Promise<T>) => Promise<T>

/**
 * Shares the calls for access reviews, and for the kinds that they are about, among namespaces. One GitCommit may name a
 * thousand objects, and dry runs cost their sender nothing: without this, the reviews of a namespace that sends them keep
 * those of all others waiting. A namespace without reviews takes no memory.
 */
export function shareReviews(): ReviewShare {
  const inShare = makeKeyedSemaphore(MOST_AT_ONCE)
  return (namespace, signal, ask) =>
    inShare(namespace, () => {
      signal.throwIfAborted()
      return ask()
    })
}
