import type { Server, Socket } from 'node:net'
import type { Release } from '../network/budget.ts'
import { closing } from './closing.ts'
import type { Connection } from './closing.ts'
import { openReadingTurns, type InReadingTurn } from './reading-turns.ts'
import { refuseTunnels } from './refused-tunnels.ts'
import { readInSlices } from './sliced-reading.ts'
import { trackConnections } from './open-connections.ts'
import { giveUpUntaken } from './taken-answers.ts'
import type { Timing } from './timing.ts'

/** Most requests of one connection that have no answer yet. Senders of events and API servers send one at a time. */
const MOST_UNANSWERED = 8
/**
 * Who is refused waits this long for the answer, so that a flood over some connections is not faster than its answers.
 * A few connections are accepted in each turn of the event loop: those that are opened again at once would delay all others.
 */
const REFUSAL_MS = 5_000

/** The connections of a server. */
export interface Connections {
  /**
   * Counts a request of the connection until it is released. Undefined if the connection has too many without an
   * answer (HTTP pipelining, RFC 9112, 9.3.2): nothing more of it is read, and it is closed after 5 s.
   */
  readonly begin: (socket: Socket) => Release | undefined
  /** The connection is not closed for a new one until it is released. */
  readonly hold: (socket: Socket) => Release
  /** Reads nothing more of the connection. Resolves after 5 s, or when it has closed: it is then to be answered and closed. */
  readonly slowDown: (socket: Socket) => Promise<void>
  /**
   * To be called when the server begins to close: within two seconds, connections without a request in hand are closed,
   * and after 10 s those whose request has not come whole. Node alone waits for the first request of a new connection
   * until its time is over, and looks no more at how long a request takes to come.
   */
  readonly closeSilent: () => void
  /**
   * Whether the connection is closed after the next answer: nothing more of it is read, or the server closes and no other
   * request of it is in hand.
   */
  readonly isLast: (socket: Socket) => boolean
  /** In which what they send is read. */
  readonly inTurn: InReadingTurn
}

/**
 * How long a connection without a request is kept: longer than clients in Go keep theirs, which is 90 s (API servers,
 * Knative). So they close it, and never use it at the moment in which it is closed here.
 */
export const KEPT_MS = 100_000

/**
 * Keeps at most `most` connections to the server. One more takes the place of the one that has been silent for longest
 * of the address that has most of them, unless that is held: whoever opens many cannot keep others out, such as the probes
 * of the kubelet, nor have those closed that others keep. One that does not take its answer for 10 s is closed. To be called
 * before the server listens.
 */
export function boundConnections(server: Server, most: number, timing: Timing): Connections {
  const open = trackConnections(timing.elapsed)
  const byEnd = new Map<string, Connection>()
  const bySocket = new WeakMap<Socket, Connection>()
  const slowed = new WeakMap<Socket, Promise<void>>()
  const inTurn = openReadingTurns(timing)
  const reading = readInSlices(server, { doNext: timing.doNext, inTurn }, refuse)
  giveUpUntaken(server, timing, end)
  refuseTunnels(server)
  // Node answers these by itself (RFC 9110, 10.1.1), however many come: they were counted nowhere.
  server.on('checkExpectation', (...both: unknown[]) => server.emit('request', ...both))

  // Node answers what is no HTTP by itself where nobody else listens, which is over now.
  if (server.listenerCount('clientError') === 0)
    server.on('clientError', (_error: Error, socket: Socket) => socket.destroy())
  // Clients open connections ahead. Node takes the time of the first request from then on, and would answer a request that
  // begins in the moment when that is over with 408.
  const refused = server.listeners('clientError')
  server
    .removeAllListeners('clientError')
    .on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && reading.isUnused(socket)) void keepUnused(socket)
      else for (const refuseIt of refused) refuseIt.call(server, error, socket)
    })

  server.on('connection', (socket: Socket) => {
    if (open.size() >= most && !closeOne()) {
      socket.destroy()
      return
    }
    const { remoteAddress: address = '' } = socket
    const connection = { socket, address, over: socket, unanswered: 0, held: 0, isUsed: false }
    const end = endOf(socket)
    open.add(connection)
    byEnd.set(end, connection)
    bySocket.set(socket, connection)
    socket.once('close', () => {
      open.remove(connection)
      if (byEnd.get(end) === connection) byEnd.delete(end)
    })
  })

  function closeOne(): boolean {
    const connection = open.leastNeeded()
    if (connection === undefined) return false
    open.remove(connection)
    connection.socket.destroy()
    return true
  }

  /** Of a TLS connection, that of the TCP connection below it: both have the same address. */
  function connectionOf(socket: Socket): Connection | undefined {
    const known = bySocket.get(socket)
    if (known !== undefined) return known
    const connection = byEnd.get(endOf(socket))
    if (connection === undefined) return undefined
    bySocket.set(socket, connection)
    connection.over = socket
    return connection
  }

  /** Requests that came together over one connection wait together. */
  function slowDown(socket: Socket): Promise<void> {
    const waiting = slowed.get(socket) ?? stopReading(socket)
    slowed.set(socket, waiting)
    return waiting
  }

  async function stopReading(socket: Socket): Promise<void> {
    reading.stop(socket)
    await isOpenAfter(REFUSAL_MS, socket)
  }

  async function keepUnused(socket: Socket): Promise<void> {
    if ((await isOpenAfter(KEPT_MS, socket)) && reading.isUnused(socket)) socket.destroy()
  }

  async function isOpenAfter(milliseconds: number, socket: Socket): Promise<boolean> {
    const closed = new AbortController()
    socket.once('close', () => closed.abort())
    return timing.wait(milliseconds, closed.signal).then(
      () => true,
      () => false,
    )
  }

  /** Closes the connection after 5 s, in which nothing of it is read. */
  function refuse(socket: Socket): void {
    if (!reading.isStopped(socket)) void slowDown(socket).then(() => end(socket))
  }

  function end(socket: Socket): void {
    const connection = connectionOf(socket)
    ;(connection?.socket ?? socket).destroy()
  }

  let isClosing = false
  const closeSilent = closing(server, open, { timing, isUnfinished: reading.isUnfinished })

  return {
    begin(socket) {
      const connection = connectionOf(socket)
      if (connection === undefined) return ignore
      open.touch(connection)
      connection.unanswered += 1
      if (connection.unanswered > MOST_UNANSWERED) {
        refuse(socket)
        return undefined
      }
      return () => {
        connection.unanswered -= 1
        connection.isUsed = true
        open.touch(connection)
      }
    },
    hold(socket) {
      const connection = connectionOf(socket)
      if (connection === undefined) return ignore
      open.hold(connection)
      return () => open.letGo(connection)
    },
    slowDown,
    closeSilent() {
      isClosing = true
      closeSilent()
    },
    isLast: (socket) =>
      reading.isStopped(socket) || (isClosing && (connectionOf(socket)?.unanswered ?? 0) <= 1),
    inTurn,
  }
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

function ignore(): void {
  return undefined
}
