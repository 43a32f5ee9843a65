import type { BodyPlace } from './body-room.ts'
import { growingBuffer } from './growing-buffer.ts'

/**
 * Most pieces of a body: each costs a microsecond and more, however short it is. Senders that write whole packets send
 * 32 MiB in half as many.
 */
const MOST_PIECES = 65_536
/** Short pieces, such as lines that are sent one by one, are normal in this number; more have to average this length. */
const SHORT_PIECES = 1_024
const LEAST_AVERAGE_BYTES = 64
/** Bytes that are read before it is asked whether to go on. */
const STEP = 256 * 1024

/** Limits for one body. */
export interface BodyBounds {
  /** Bytes. */
  readonly most: number
  /** Ends the reading; the promise then rejects with its reason. */
  readonly signal?: AbortSignal
  /** Where the memory of the body is counted. If the body is not read to its end, the place is left. */
  readonly place?: BodyPlace
  /** Asked after each 256 KiB, and waited for; nothing is read meanwhile. */
  readonly goOn?: (() => Promise<unknown>) | undefined
}

/** Why a body was not read to its end: more bytes, or more or shorter pieces than allowed, or others needed the room. */
export type Cut = 'too large' | 'too many pieces' | 'no room'

/**
 * Reads the body of a request or an answer into one buffer. Rejects with the error of the stream, or with the code
 * ECONNRESET if it closes before its end. A stream that was not read to its end is paused: the caller destroys it.
 */
export function readBody(
  stream: NodeJS.ReadableStream,
  bounds: BodyBounds,
): Promise<Buffer<ArrayBuffer> | Cut> {
  const { most, signal, place, goOn } = bounds
  const { promise, resolve, reject } = Promise.withResolvers<Buffer<ArrayBuffer> | Cut>()
  const buffer = growingBuffer(most, place === undefined ? undefined : (bytes) => place.take(bytes, giveUp))
  let size = 0
  let pieces = 0
  let asked = 0

  function read(piece: Buffer): void {
    size += piece.length
    pieces += 1
    if (size > most) cut('too large')
    else if (pieces > mostPieces(size)) cut('too many pieces')
    else if (!buffer.add(piece)) cut('no room')
    else if (goOn !== undefined && size - asked >= STEP) pauseUntil(goOn())
  }
  function pauseUntil(mayGoOn: Promise<unknown>): void {
    asked = size
    stream.pause()
    mayGoOn.then(() => stream.resume(), fail)
  }
  function end(): void {
    stop()
    place?.complete()
    resolve(buffer.bytes())
  }
  function cut(why: Cut): void {
    leave()
    resolve(why)
  }
  function giveUp(): void {
    cut('no room')
  }
  function fail(error: unknown): void {
    leave()
    reject(error)
  }
  function close(): void {
    fail(Object.assign(new Error('The body was closed before its end.'), { code: 'ECONNRESET' }))
  }
  function abort(): void {
    fail(signal?.reason)
  }
  function leave(): void {
    stop()
    stream.pause()
    place?.leave()
  }
  function stop(): void {
    stream.off('data', read).off('end', end).off('close', close).off('error', fail)
    // A stream may report an error when it is destroyed. This listener does not keep the buffer in memory.
    stream.on('error', ignore)
    signal?.removeEventListener('abort', abort)
  }

  stream.on('error', fail).on('end', end).on('close', close)
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted === true) abort()
  else stream.on('data', read)
  return promise
}

/**
 * Bytes of the body that a request announces (RFC 9112, section 6.3); 0 if it announces no length. A body that announces
 * too much is refused before it is read.
 */
export function announcedBytes(headers: Readonly<Record<string, unknown>>): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : 0
}

/** Whether a request has a body, which may be empty (RFC 9112, section 6.3). */
export function announcesBody(headers: Readonly<Record<string, unknown>>): boolean {
  return headers['transfer-encoding'] !== undefined || announcedBytes(headers) > 0
}

function mostPieces(bytes: number): number {
  return Math.min(MOST_PIECES, SHORT_PIECES + bytes / LEAST_AVERAGE_BYTES)
}

function ignore(): void {
  return undefined
}
