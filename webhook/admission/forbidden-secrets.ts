import { LRUCache } from 'lru-cache'
import type { Cluster } from '../../functions/cluster/cluster.ts'
import { Failure } from '../../functions/domain/failure.ts'

/** A right that is granted to the webhook is used after this time at the latest. */
const REMEMBERED_MS = 10_000
/** Most remembered names: at most a few hundred bytes each. */
const MOST_REMEMBERED = 4_096

/**
 * Reads Secrets. If the API server forbids it (ReferenceForbidden), repeats that failure for 10 s without a call: in most
 * namespaces the webhook may read no Secret, and each apply would cost a call and a denial in the audit log. Nothing else
 * is remembered, in particular no Secret. `now` is in milliseconds.
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

  return async function readUnlessForbidden(namespace, name, by) {
    // Neither name can contain a slash.
    const key = `${namespace}/${name}`
    const failure = forbidden.get(key)
    if (failure !== undefined) throw failure
    try {
      return await readSecret(namespace, name, by)
    } catch (error) {
      if (error instanceof Failure && error.reason === 'ReferenceForbidden') forbidden.set(key, error)
      throw error
    }
  }
}
