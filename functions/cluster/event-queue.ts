import { makeFairSemaphore } from '../domain/sharing/semaphores/fair-semaphore.ts'
import { openFairPlaces } from '../domain/sharing/fair-places.ts'
import { makeKeyedSemaphore } from '../domain/sharing/semaphores/keyed-semaphore.ts'
import type { ApiCall, ApiServer } from './api-server.ts'
import type { Cluster } from './cluster.ts'
import { eventCall } from './event.ts'

/** Events that are sent at once: the other connections are for attempts. */
const MOST_AT_ONCE = 8
/** Those of one namespace. */
const MOST_OF_NAMESPACE = 2
/** Most Events that wait without their caller, some 2 KiB each; of a namespace as many as it leaves for others. */
const MOST_WAITING = 1_024
/** The last eighth is for namespaces with so many: where each takes half of what is left, ten leave next to nothing. */
const FEW = 8

/**
 * Records Events behind their callers, in the turns of their namespaces: nobody waits for an Event unless very many of its
 * namespace do. An Event that the API server does not accept is given up. `elapsed`: milliseconds of a clock that is never set.
 */
export function openEventQueue(
  server: ApiServer,
  elapsed: () => number,
): Pick<Cluster, 'recordEvent' | 'flushEvents'> {
  const inShare = makeKeyedSemaphore(MOST_OF_NAMESPACE)
  const inTurn = makeFairSemaphore(MOST_AT_ONCE, elapsed)
  const places = openFairPlaces(MOST_WAITING, FEW)
  const open = new Set<Promise<void>>()

  return {
    recordEvent(resource, event) {
      const { namespace } = resource.metadata
      // Made at once: the resource may be large, and is not kept until its turn.
      const call = eventCall(resource, event, new Date())
      const leave = places.enter(namespace)
      const sent = inShare(namespace, () => inTurn(namespace, () => send(server, call))).finally(() => {
        leave?.()
        open.delete(sent)
      })
      open.add(sent)
      return leave === undefined ? sent : Promise.resolve()
    },
    async flushEvents() {
      while (open.size > 0) await Promise.all(open)
    },
  }
}

async function send(server: ApiServer, call: ApiCall): Promise<void> {
  await server(call).catch(() => undefined)
}
