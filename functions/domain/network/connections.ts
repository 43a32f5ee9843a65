import type { Server, Socket } from 'node:net'
import type { Release } from './budget.ts'

/** Most requests of one connection that have no answer yet. Senders of events and API servers send one at a time. */
const MOST_UNANSWERED = 8

/** The connections of a server. */
export interface Connections {
  /**
   * Counts a request of the connection until it is released. Undefined if the connection has too many without an
   * answer (HTTP pipelining, RFC 9112, 9.3.2): it was closed.
   */
  readonly begin: (socket: Socket) => Release | undefined
  /** The connection is not closed for a new one until it is released. */
  readonly hold: (socket: Socket) => Release
}

interface Connection {
  readonly socket: Socket
  unanswered: number
  held: number
}

/**
 * Keeps at most `most` connections to the server. One more takes the place of the one that has been silent for longest,
 * unless that is held: whoever opens many cannot keep others out, such as the probes of the kubelet.
 */
export function boundConnections(server: Server, most: number): Connections {
  // The one that has been silent for longest comes first.
  const open = new Map<string, Connection>()

  server.on('connection', (socket: Socket) => {
    const key = keyOf(socket)
    if (open.size >= most && !closeOne()) {
      socket.destroy()
      return
    }
    open.set(key, { socket, unanswered: 0, held: 0 })
    socket.once('close', () => {
      if (open.get(key)?.socket === socket) open.delete(key)
    })
  })

  function closeOne(): boolean {
    for (const [key, { socket, held }] of open) {
      if (held > 0) continue
      open.delete(key)
      socket.destroy()
      return true
    }
    return false
  }

  /** The connection, after which all others now come. */
  function touch(socket: Socket): Connection | undefined {
    const key = keyOf(socket)
    const connection = open.get(key)
    if (connection === undefined) return undefined
    open.delete(key)
    open.set(key, connection)
    return connection
  }

  return {
    begin(socket) {
      const connection = touch(socket)
      if (connection === undefined) return ignore
      connection.unanswered += 1
      if (connection.unanswered > MOST_UNANSWERED) {
        connection.socket.destroy()
        return undefined
      }
      return () => {
        connection.unanswered -= 1
        touch(socket)
      }
    },
    hold(socket) {
      const connection = open.get(keyOf(socket))
      if (connection === undefined) return ignore
      connection.held += 1
      return () => {
        connection.held -= 1
      }
    },
  }
}

/** The same for a TLS connection and the TCP connection below it. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

function ignore(): void {
  return undefined
}
