import { Duplex } from 'node:stream'
import type { MessagePort } from 'node:worker_threads'

/** What both ends of a port post. */
type Posted =
  /** Bytes, whose memory belongs to the receiver from now on. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array<ArrayBuffer> }
  /** So many bytes were read from the stream. */
  | { readonly kind: 'read'; readonly count: number }
  /** No more bytes follow. */
  | { readonly kind: 'end' }

/** Most bytes that are on their way and not yet read, in each direction. */
const IN_FLIGHT = 256 * 1024

/** After a message of fewer bytes the next ones are gathered: each message costs the receiver as much as many bytes. */
const SMALL = 16 * 1024

/** Told of bytes that were read: calls `goOn` when as many more may come. */
export type OnRead = (bytes: number, goOn: () => void) => void

/** Of one end of a stream. */
export interface PortStreamOptions {
  /** Default: more comes at once. */
  readonly onRead?: OnRead | undefined
  /** For so many milliseconds after a small message what is written is gathered for the next one; default: it is not. */
  readonly gatherMs?: number
}

/**
 * A stream of bytes between two threads: what is written at one end of the channel is read at the other. At most
 * 256 KiB are on their way in each direction; what follows waits in the writer, also until `onRead` lets more come. Each end can
 * be ended alone. If one end is destroyed, or its thread ends, the other is destroyed as well.
 */
export function openPortStream(
  port: MessagePort,
  { onRead = (_bytes, goOn) => goOn(), gatherMs }: PortStreamOptions = {},
): Duplex {
  let [unread, received] = [0, 0]
  let proceed: (() => void) | undefined
  function post(message: Posted): void {
    port.postMessage(message, message.kind === 'bytes' ? [message.bytes.buffer] : [])
  }
  function send(chunks: readonly Uint8Array[], done: () => void): void {
    // A copy: the memory of a Buffer may be shared with others.
    const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const chunk of chunks) {
      bytes.set(chunk, at)
      at += chunk.length
    }
    unread += bytes.length
    const isSmall = bytes.length < SMALL
    post({ kind: 'bytes', bytes })
    if (isSmall && gatherMs !== undefined) setTimeout(takeMore, gatherMs, done)
    else takeMore(done)
  }
  function takeMore(done: () => void): void {
    if (unread < IN_FLIGHT) done()
    else proceed = done
  }
  const stream = new Duplex({
    read() {
      const count = received
      received = 0
      if (count > 0) onRead(count, () => post({ kind: 'read', count }))
    },
    write(chunk: Buffer, _encoding, done) {
      send([chunk], done)
    },
    writev(queued: readonly { readonly chunk: Buffer }[], done) {
      send(
        queued.map(({ chunk }) => chunk),
        done,
      )
    },
    final(done) {
      post({ kind: 'end' })
      done()
    },
    destroy(error, done) {
      port.close()
      done(error)
    },
  })
  port.on('message', (message: Posted) => {
    if (message.kind === 'end') stream.push(null)
    else if (message.kind === 'bytes') {
      received += message.bytes.length
      stream.push(message.bytes)
    } else {
      unread -= message.count
      if (unread >= IN_FLIGHT) return
      const next = proceed
      proceed = undefined
      next?.()
    }
  })
  port.on('close', () => stream.destroy())
  return stream
}
