import type { Connection } from './closing.ts'

/** The connections of a server; the one that has been silent for longest comes first. */
export interface OpenConnections extends Iterable<Connection> {
  readonly size: () => number
  readonly add: (connection: Connection) => void
  readonly remove: (connection: Connection) => void
  /** All others now come before it. */
  readonly touch: (connection: Connection) => void
  /**
   * The one that gives its place to one more: of the address that has most of them, the one that has been silent for longest.
   * Those that are held neither count nor give way, and of those that have been silent for less than a second, four count
   * as one: whoever needs many connections has them for a moment. Undefined if all are held.
   */
  readonly leastNeeded: () => Connection | undefined
}

const SILENT_MS = 1_000
const OF_BUSY = 1 / 4

/** Begins with none. `elapsed`: milliseconds of a clock that is never set. */
export function trackConnections(elapsed: () => number): OpenConnections {
  const open = new Map<Connection, number>()

  function touch(connection: Connection): void {
    if (open.delete(connection)) open.set(connection, elapsed())
  }

  function countByAddress(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    const silentSince = elapsed() - SILENT_MS
    for (const [{ address, held }, since] of open)
      if (held === 0) counts.set(address, (counts.get(address) ?? 0) + (since > silentSince ? OF_BUSY : 1))
    return counts
  }

  return {
    size: () => open.size,
    add: (connection) => void open.set(connection, elapsed()),
    remove: (connection) => void open.delete(connection),
    touch,
    leastNeeded() {
      const counts = countByAddress()
      const most = Math.max(...counts.values())
      for (const [connection] of open)
        if (connection.held === 0 && counts.get(connection.address) === most) return connection
      return undefined
    },
    [Symbol.iterator]: () => open.keys(),
  }
}
