import type { Server, Socket } from 'node:net'

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
 * Does the work next, after all callbacks and promises of what runs now, and before anything that comes from outside:
 * a microtask of the next tick.
 */
export type DoNext = (work: () => void) => void

/** A request of node:http. */
interface Incoming {
  readonly socket: Socket
  /** All of it has come. */
  readonly complete: boolean
}

/** What the connections of a server send, on its way to the HTTP parser. */
export interface Reading {
  /** Nothing more of what the connection sends is parsed, not even what has already come. It stays open for the answer. */
  readonly stop: (socket: Socket) => void
  readonly isStopped: (socket: Socket) => boolean
  /** Nothing has come over it yet. */
  readonly isUnused: (socket: Socket) => boolean
}

/**
 * Hands what comes to the HTTP parser of the server in slices, so that a connection can be stopped after a few
 * requests or chunks. For servers of node:http and node:https, before they listen. `noRequest` is told of a connection that has
 * sent more than 64 KiB that belong to no request.
 */
export function readInSlices(server: Server, doNext: DoNext, noRequest: (socket: Socket) => void): Reading {
  const stopped = new WeakSet<Socket>()
  const requests = new WeakMap<Socket, Incoming>()
  const outside = new WeakMap<Socket, number>()
  server.on('request', (request: Incoming) => {
    requests.set(request.socket, request)
    outside.set(request.socket, 0)
  })

  /** Counts bytes before they are parsed: a request among them begins anew. False for too many. */
  function isExpected(socket: Socket, bytes: number): boolean {
    if (requests.get(socket)?.complete === false) return true
    const sum = (outside.get(socket) ?? 0) + bytes
    outside.set(socket, sum)
    return sum <= MOST_OUTSIDE
  }

  function readSlices(socket: Socket): void {
    // The parser of node:http; the TCP connection below one with TLS has none.
    const [parse] = socket.listeners('data')
    if (parse === undefined) return
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
      const bytes = rest
      rest = undefined
      if (bytes === undefined || socket.destroyed) return
      if (stopped.has(socket)) {
        // Node resumes it at the end of each request.
        socket.pause()
        return
      }
      // Node waits for the sender to read its answers.
      if (socket.isPaused()) {
        socket.unshift(bytes)
        return
      }
      const slice = bytes.subarray(0, size)
      if (!isExpected(socket, slice.length)) {
        noRequest(socket)
        return
      }
      if (bytes.length > size) rest = bytes.subarray(size)
      parse?.call(socket, slice)
      size *= 2
      // What was parsed is handled first: that may stop the connection.
      if (rest !== undefined) doNext(readSlice)
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
  }
}
