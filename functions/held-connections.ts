import type { Socket } from 'node:net'
import type { Posted } from './domain/event/hint.ts'
import type { Connections } from './domain/incoming/connections.ts'
import type { Release } from './domain/network/budget.ts'
import type { Sender } from './event-places.ts'

/**
 * Connections that give way to no new one while a list, a search or a sweep is waited for: up to 25 s, and without a place. With those
 * of the events in hand, an eighth of all is left.
 */
const MOST_WAITING = 512

/** Has a connection give way to no new one until the result is called. */
export type HoldConnection = (socket: Socket, posted: Posted, sender: Sender) => Release

/** Holds the connections of requests: of those that have no place, and whose sender is not known, as many as leave others room. */
export function holdConnections({ hold }: Pick<Connections, 'hold'>): HoldConnection {
  let waiting = 0
  return (socket, { form, hints }, sender) => {
    const isOfOne = form !== 'batch' && form !== 'list' && hints.every(({ about }) => about === 'resource')
    if (isOfOne || sender === 'source') return hold(socket)
    if (waiting >= MOST_WAITING) return () => undefined
    const letGo = hold(socket)
    waiting += 1
    return () => {
      waiting -= 1
      letGo()
    }
  }
}
