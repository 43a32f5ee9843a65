import { openKeyedTurns } from '../domain/sharing/keyed-turns.ts'
import type { ApiServer } from './api-server.ts'
import { ended } from './calls/exchange.ts'
import type { LargeReads } from './calls/large-reads.ts'
import { isOwnPath } from './calls/own-paths.ts'
import type { ReadBy } from './cluster.ts'

/** Calls at once for a namespace that reads objects, and for those of one group: an eighth and a quarter of the connections. */
export const OF_NAMESPACE = 8
export const OF_GROUP = 16

/** Calls the API server on behalf of this reader; without one, each call has its own time limit alone. */
export type ServerFor = (by: ReadBy | undefined) => ApiServer

/**
 * Shares the calls that the API server may pass on to another API, which may never answer, among the namespaces that read and
 * the groups that are read, and those of large objects as `large` does. A call that waits for its share, or for its answer, ends
 * with the signal of its reader.
 */
export function shareReads(server: ApiServer, large: LargeReads, elapsed: () => number): ServerFor {
  const ofNamespace = openKeyedTurns(OF_NAMESPACE, elapsed)
  const ofGroup = openKeyedTurns(OF_GROUP, elapsed)
  return function serverFor(by) {
    if (by === undefined) return server
    const { namespace: owner, signal } = by
    const taker = { owner, signal, late: ended }
    return async function call(request) {
      const read = (): ReturnType<ApiServer> => large(by)({ ...request, signal })
      if (isOwnPath(request.path)) return read()
      const [, , group = ''] = request.path.split('/', 3)
      return ofNamespace({ ...taker, key: owner }, () => ofGroup({ ...taker, key: group }, read))
    }
  }
}
