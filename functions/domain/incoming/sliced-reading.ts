import type { Server, Socket } from 'node:net'
import { announcesBody } from '../network/read-body.ts'
import { holdSocket } from './held-socket.ts'
import type { InReadingTurn } from './reading-turns.ts'
import type { DoNext } from './timing.ts'

/**
 * Bytes that the HTTP parser gets first of what has come; then twice as many, and so on. Node gives it all at once, up to
 * 64 KiB: thousands of requests, or of chunks, each of which costs microseconds.
 */
const FIRST_SLICE_BYTES = 1_024
/**
 * Bytes that may come before a request, of which Node reads any number: empty lines (RFC 9112, 2.2), and everything that
 * follows a request to change the protocol. A head has at most 16 KiB, and a slice twice as much.
 */
const MOST_OUTSIDE = 64 * 1024
/**
 * Headers of a request that are kept: each takes 150 bytes and more, however short it is, and a head of 16 KiB may have
 * thousands. An event that a Broker delivers through a mesh has some 40. Node alone keeps 2,000.
 */
const MOST_HEADERS = 100

/** A request of node:http. */
interface Incoming {
  readonly socket: Socket
  readonly headers: Readonly<Record<string, unknown>>
  readonly rawHeaders: readonly string[]
  /** All of it has come. */
  readonly complete: boolean
  readonly readableFlowing: boolean | null
  readonly listenerCount: (event: 'readable') => number
  readonly once: (event: 'end', listener: () => void) => unknown
}

/** Its response. */
interface Outgoing {
  shouldKeepAlive: boolean
  readonly prependOnceListener: (event: 'finish', listener: () => void) => unknown
}

/** When what has come is parsed: the next slice of a connection, and those of many connections. */
export interface ReadingOrder {
  readonly doNext: DoNext
  readonly inTurn: InReadingTurn
}

/** What the connections of a server send, on its way to the HTTP parser. */
export interface Reading {
  /** Nothing more of what the connection sends is parsed, not even what has already come. It stays open for the answer. */
  readonly stop: (socket: Socket) => void
  readonly isStopped: (socket: Socket) => boolean
  /** Nothing has come over it yet. */
  readonly isUnused: (socket: Socket) => boolean
  /** Its last request has not come whole. */
  readonly isUnfinished: (socket: Socket) => boolean
}

/**
 * Hands what comes to the HTTP parser of the server in slices, so that a connection can be stopped after a few
 * requests or chunks. For servers of node:http and node:https, before they listen. Of a body, nothing is parsed while nobody
 * reads it. A request that is answered before its body was read to the end is the last one of its connection,
 * and says so (RFC 9112, 9.6). Of the headers of a request, a hundred are kept. `refuse` has to stop and close a connection:
 * after such an answer, of which Node would read all that follows, and after more than 64 KiB that belong to no request.
 */
export function readInSlices(
  server: Server,
  { doNext, inTurn }: ReadingOrder,
  refuse: (socket: Socket) => void,
): Reading {
  const stopped = new WeakSet<Socket>()
  const requests = new WeakMap<Socket, Incoming>()
  const outside = new WeakMap<Socket, number>()
  Object.assign(server, { maxHeadersCount: MOST_HEADERS })
  // Before the server's own listener, which may answer at once.
  server.prependListener('request', (request: Incoming, response: Outgoing) => {
    requests.set(request.socket, request)
    outside.set(request.socket, 0)
    if (mayHaveBody(request)) expectBody(request, response)
  })

  function expectBody(request: Incoming, response: Outgoing): void {
    const { socket } = request
    const { shouldKeepAlive } = response
    response.shouldKeepAlive = false
    request.once('end', () => {
      response.shouldKeepAlive = shouldKeepAlive
    })
    // Before that of Node, which closes the connection: what has come meanwhile would reset it, and the answer be lost.
    response.prependOnceListener('finish', () => {
      if (request.complete || stopped.has(socket)) return
      socket.destroySoon = () => socket.end()
      refuse(socket)
    })
  }

  function isUnfinished(socket: Socket): boolean {
    return requests.get(socket)?.complete === false
  }

  function isUnread(socket: Socket): boolean {
    const request = requests.get(socket)
    if (request === undefined || request.complete) return false
    return request.readableFlowing !== true && request.listenerCount('readable') === 0
  }

  /** Counts bytes before they are parsed: a request among them begins anew. False for too many. */
  function isExpected(socket: Socket, bytes: number): boolean {
    if (isUnfinished(socket)) return true
    const sum = (outside.get(socket) ?? 0) + bytes
    outside.set(socket, sum)
    return sum <= MOST_OUTSIDE
  }

  function readSlices(socket: Socket): void {
    // The parser of node:http; the TCP connection below one with TLS has none.
    const [parse] = socket.listeners('data')
    if (parse === undefined) return
    const held = holdSocket(socket)
    let rest: Buffer | undefined
    let size = FIRST_SLICE_BYTES
    function read(bytes: Buffer): void {
      const isUnderway = rest !== undefined
      rest = rest === undefined ? bytes : Buffer.concat([rest, bytes])
      if (isUnderway) return
      size = FIRST_SLICE_BYTES
      readSlice()
    }
    function readSlice(): void {
      if (!inTurn(socket.remoteAddress, parseSlice)) held.hold()
    }
    function parseSlice(): void {
      const bytes = rest
      rest = undefined
      if (bytes === undefined || socket.destroyed) return
      if (stopped.has(socket)) {
        // Node resumes it at the end of each request.
        socket.pause()
        return
      }
      // Node waits for the sender to read its answers, and resumes it once somebody reads the body.
      if (held.isPaused() || isUnread(socket)) {
        socket.pause()
        socket.unshift(bytes)
        held.letGo()
        return
      }
      const slice = bytes.subarray(0, size)
      if (!isExpected(socket, slice.length)) {
        refuse(socket)
        return
      }
      if (bytes.length > size) rest = bytes.subarray(size)
      parse?.call(socket, slice)
      size *= 2
      // What was parsed is handled first: that may stop the connection.
      if (rest === undefined) held.letGo()
      else doNext(readSlice)
    }
    // Without this the parser would read from the operating system directly.
    socket.removeAllListeners('data').on('data', read)
  }

  server.on('connection', readSlices)
  server.on('secureConnection', readSlices)
  return {
    stop(socket) {
      stopped.add(socket)
      socket.pause()
    },
    isStopped: (socket) => stopped.has(socket),
    isUnused: (socket) => !outside.has(socket),
    isUnfinished,
  }
}

/** One with too many headers may have announced it in those that were not kept. */
function mayHaveBody({ headers, rawHeaders }: Incoming): boolean {
  return announcesBody(headers) || rawHeaders.length >= 2 * MOST_HEADERS
}
