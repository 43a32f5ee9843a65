import type { ApiCall, ApiServer } from './api-server.ts'
import type { Cluster } from './cluster.ts'
import { eventCall } from './event.ts'

/** Events that are sent at once: the other connections are for attempts. */
const MOST_AT_ONCE = 8
/** Most Events that wait without their caller, some 2 KiB each. */
const MOST_WAITING = 1_024

/**
 * Records Events behind their callers, in the order of the calls: nobody waits for an Event unless very many do. An Event
 * that the API server does not accept is given up.
 */
export function openEventQueue(server: ApiServer): Pick<Cluster, 'recordEvent' | 'flushEvents'> {
  const waiting: (() => Promise<void>)[] = []
  const flushes: (() => void)[] = []
  let running = 0

  async function work(): Promise<void> {
    running += 1
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next()
    running -= 1
    if (running === 0) for (const done of flushes.splice(0)) done()
  }

  return {
    recordEvent(resource, event) {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      // Made at once: the resource may be large, and is not kept until its turn.
      const call = eventCall(resource, event, new Date())
      waiting.push(() => send(server, call).then(() => resolve(undefined)))
      if (running < MOST_AT_ONCE) void work()
      return waiting.length > MOST_WAITING ? promise : Promise.resolve()
    },
    flushEvents() {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      if (running === 0) resolve(undefined)
      else flushes.push(() => resolve(undefined))
      return promise
    },
  }
}

async function send(server: ApiServer, call: ApiCall): Promise<void> {
  await server(call).catch(() => undefined)
}
