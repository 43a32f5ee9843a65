import { LRUCache } from 'lru-cache'
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
  const forbidden = new LRUCache<string, Failure>({
    max: MOST_REMEMBERED,
    ttl: REMEMBERED_MS,
    ttlResolution: 0,
    perf: { now },
  })

  return async function readUnlessForbidden(namespace, name) {
    // Neither name holds a slash.
    const key = `${namespace}/${name}`
    const refusal = forbidden.get(key)
    if (refusal !== undefined) throw refusal
    try {
      return await readSecret(namespace, name)
    } catch (error) {
      if (error instanceof Failure && error.reason === 'ReferenceForbidden') forbidden.set(key, error)
      throw error
    }
  }
}
