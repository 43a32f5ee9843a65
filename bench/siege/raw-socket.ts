import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { once } from 'node:events'
import { connect as connectTLS } from 'node:tls'

const DEADLINE_MS = 10_000

/** A connection on which anything may be written. What comes back is thrown away. The signal breaks it. */
export async function openSocket(address: string, signal: AbortSignal): Promise<Socket> {
  const { hostname: host, port, protocol } = new URL(address)
  const options = { host, port: Number(port) }
  const isTLS = protocol === 'https:'
  const socket = isTLS ? connectTLS({ ...options, rejectUnauthorized: false }) : connect(options)
  socket.on('error', () => socket.destroy()).resume()
  signal.addEventListener('abort', () => socket.destroy(), { once: true })
  await once(socket, isTLS ? 'secureConnect' : 'connect', { signal: AbortSignal.timeout(DEADLINE_MS) })
  return socket
}

/** Writes, and waits while the other side does not read. Throws where the connection is broken. */
export async function write(socket: Socket, bytes: Uint8Array | string): Promise<void> {
  if (socket.destroyed) throw new Error('The connection is broken.')
  await new Promise((resolve) => socket.write(bytes, resolve))
}

/** Waits until the other side closes the connection, at most this long, and breaks it. */
export async function untilClosed(socket: Socket, milliseconds: number): Promise<void> {
  const timer = setTimeout(() => socket.destroy(), milliseconds)
  if (!socket.destroyed) await once(socket, 'close')
  clearTimeout(timer)
}

const PER_PIECE = 10_000
/** Many chunks of one byte each, of a body in chunked encoding. */
const PIECE = Buffer.from('1\r\na\r\n'.repeat(PER_PIECE))

/** A body in chunks of one byte each. */
export interface ChunkedBody {
  readonly bytes: number
  readonly frame: readonly [string, string]
  readonly count: (bytes: number) => void
}

/**
 * Writes so many bytes of a body, each as a chunk of its own, between two texts that are a chunk each. `count` is called
 * with the number of each group of bytes that was sent.
 */
export async function writeChunks(socket: Socket, { bytes, frame, count }: ChunkedBody): Promise<void> {
  const [before, after] = frame
  await write(socket, chunk(before))
  for (let sent = 0; sent < bytes; sent += PER_PIECE) {
    await write(socket, PIECE)
    count(PER_PIECE)
  }
  await write(socket, `${chunk(after)}0\r\n\r\n`)
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}
