import type { Cluster } from '../../functions/cluster/cluster.ts'
import { Failure } from '../../functions/domain/failure.ts'

/** A right that the webhook is given counts after so long at the latest. */
const REMEMBERED_MS = 10_000
/** Names that are remembered at once: at most some hundred bytes each. */
const MOST_REMEMBERED = 4_096

/**
 * Reads Secrets, and where the API server said that the webhook may not (ReferenceForbidden) says so again for 10 s
 * without asking: most namespaces show it none, and each apply would cost a call and a denial in the audit log.
 * Nothing else is remembered, no Secret above all. `now` is in milliseconds.
 */
export function rememberForbidden(
  readSecret: Cluster['readSecret'],
  now: () => number,
): Cluster['readSecret'] {
  const forbidden = new Map<string, Refusal>()

  function remember(key: string, failure: Failure): void {
    forbidden.delete(key)
    forbidden.set(key, { failure, until: now() + REMEMBERED_MS })
    // A Map keeps the order of its keys' first setting: the oldest goes first.
    for (const [old, { until }] of forbidden) {
      if (until > now() && forbidden.size <= MOST_REMEMBERED) break
      forbidden.delete(old)
    }
  }

  return async function readUnlessForbidden(namespace, name) {
    // Neither name holds a slash.
    const key = `${namespace}/${name}`
    const refusal = forbidden.get(key)
    if (refusal !== undefined && refusal.until > now()) throw refusal.failure
    try {
      return await readSecret(namespace, name)
    } catch (error) {
      if (error instanceof Failure && error.reason === 'ReferenceForbidden') remember(key, error)
      throw error
    }
  }
}

interface Refusal {
  readonly failure: Failure
  /** So long it counts, in the milliseconds of `now`. */
  readonly until: number
}
