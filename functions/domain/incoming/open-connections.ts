import type { Connection } from './closing.ts'

/** The connections of a server; the one that has been silent for longest comes first. */
export interface OpenConnections extends Iterable<Connection> {
  readonly size: () => number
  readonly add: (connection: Connection) => void
  readonly remove: (connection: Connection) => void
  /** All others now come before it. */
  readonly touch: (connection: Connection) => void
  /**
   * The one that gives its place to one more: of the address that has most of them, the one that has been silent for longest and
   * is not held. Undefined if all are held.
   */
  readonly leastNeeded: () => Connection | undefined
}

/** Begins with none. */
export function trackConnections(): OpenConnections {
  const open = new Set<Connection>()
  const ofAddress = new Map<string, number>()

  function count({ address }: Connection, step: number): void {
    const many = numberAt(address) + step
    if (many === 0) ofAddress.delete(address)
    else ofAddress.set(address, many)
  }

  function numberAt(address: string): number {
    return ofAddress.get(address) ?? 0
  }

  return {
    size: () => open.size,
    add(connection) {
      open.add(connection)
      count(connection, 1)
    },
    remove(connection) {
      if (open.delete(connection)) count(connection, -1)
    },
    touch(connection) {
      if (open.delete(connection)) open.add(connection)
    },
    leastNeeded() {
      const most = Math.max(...ofAddress.values())
      let least: Connection | undefined
      for (const connection of open) {
        if (connection.held > 0) continue
        if (numberAt(connection.address) === most) return connection
        if (least === undefined || numberAt(connection.address) > numberAt(least.address)) least = connection
      }
      return least
    },
    [Symbol.iterator]: () => open.values(),
  }
}
