import type { Connection } from './closing.ts'

/** The connections of a server. */
export interface OpenConnections extends Iterable<Connection> {
  readonly size: () => number
  readonly add: (connection: Connection) => void
  readonly remove: (connection: Connection) => void
  /** It is not silent now. */
  readonly touch: (connection: Connection) => void
  /** It gives way to no other one until it was let go as often, and is not silent then. */
  readonly hold: (connection: Connection) => void
  readonly letGo: (connection: Connection) => void
  /**
   * The one that gives its place to one more: of the address that has most of them, the one that has been silent for longest.
   * Those that are held neither count nor give way, and of those that have been silent for less than a second, four count
   * as one: whoever needs many connections has them for a moment. Undefined if all are held.
   */
  readonly leastNeeded: () => Connection | undefined
}

const SILENT_MS = 1_000
/** What a connection weighs that was silent for so long, where others weigh 1. */
const OF_SILENT = 4

/** The connections of an address that are not held. */
interface Free {
  /** The one that has been silent for longest comes first. */
  readonly connections: Set<Connection>
  weight: number
}

/** Begins with none. `elapsed`: milliseconds of a clock that is never set. */
export function trackConnections(elapsed: () => number): OpenConnections {
  const open = new Set<Connection>()
  const ofAddress = new Map<string, Free>()
  // Since when those that are not held are silent, in this order, for less than a second.
  const recent = new Map<Connection, number>()

  function free(connection: Connection): void {
    const one = ofAddress.get(connection.address) ?? { connections: new Set(), weight: 0 }
    ofAddress.set(connection.address, one)
    one.connections.add(connection)
    one.weight += 1
    recent.set(connection, elapsed())
  }

  function take(connection: Connection): void {
    const one = ofAddress.get(connection.address)
    if (one?.connections.delete(connection) !== true) return
    one.weight -= recent.delete(connection) ? 1 : OF_SILENT
    if (one.connections.size === 0) ofAddress.delete(connection.address)
  }

  /** Keeps the weights: counting all for each new connection takes 0.1 ms where 2,048 are open. */
  function findSilent(): void {
    const silentSince = elapsed() - SILENT_MS
    for (const [connection, since] of recent) {
      if (since > silentSince) return
      recent.delete(connection)
      const one = ofAddress.get(connection.address)
      if (one !== undefined) one.weight += OF_SILENT - 1
    }
  }

  return {
    size: () => open.size,
    add(connection) {
      open.add(connection)
      free(connection)
    },
    remove(connection) {
      open.delete(connection)
      take(connection)
    },
    touch(connection) {
      if (connection.held > 0 || !open.has(connection)) return
      take(connection)
      free(connection)
    },
    hold(connection) {
      take(connection)
      connection.held += 1
    },
    letGo(connection) {
      connection.held -= 1
      if (connection.held === 0 && open.has(connection)) free(connection)
    },
    leastNeeded() {
      findSilent()
      let most: Free | undefined
      for (const one of ofAddress.values()) if (one.weight > (most?.weight ?? 0)) most = one
      const [least] = most?.connections ?? []
      return least
    },
    [Symbol.iterator]: () => open.values(),
  }
}
