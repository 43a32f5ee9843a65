import type { Server, Socket } from 'node:net'

/**
 * Bytes that the HTTP parser gets first of what has come; then twice as many, and so on. Node gives it all at once, up to
 * 64 KiB: thousands of requests, or of chunks, each of which costs microseconds.
 */
const FIRST_SLICE_BYTES = 1_024

/**
 * Does the work next, after all callbacks and promises of what runs now, and before anything that comes from outside:
 * a microtask of the next tick.
 */
export type DoNext = (work: () => void) => void

/** What the connections of a server send, on its way to the HTTP parser. */
export interface Reading {
  /** Nothing more of what the connection sends is parsed, not even what has already come. It stays open for the answer. */
  readonly stop: (socket: Socket) => void
  readonly isStopped: (socket: Socket) => boolean
}

/**
 * Hands what comes to the HTTP parser of the server in slices, so that a connection can be stopped after a few
 * requests or chunks. For servers of node:http and node:https, before they listen.
 */
export function readInSlices(server: Server, doNext: DoNext): Reading {
  const stopped = new WeakSet<Socket>()

  function slice(socket: Socket): void {
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
      if (bytes.length > size) rest = bytes.subarray(size)
      parse?.call(socket, bytes.subarray(0, size))
      size *= 2
      // What was parsed is handled first: that may stop the connection.
      if (rest !== undefined) doNext(readSlice)
    }
    // Without this the parser would read from the operating system directly.
    socket.removeAllListeners('data').on('data', read)
  }

  server.on('connection', slice)
  server.on('secureConnection', slice)
  return {
    stop(socket) {
      stopped.add(socket)
      socket.pause()
    },
    isStopped: (socket) => stopped.has(socket),
  }
}
