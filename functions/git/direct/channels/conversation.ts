import type { Duplex } from 'node:stream'
import type { Release } from '../../../domain/network/budget.ts'
import { growingBuffer } from '../../../domain/network/growing-buffer.ts'
import { takeFrom, type BodyBounds } from '../../../http/bounded-body.ts'
import type { Transferred } from '../../../http/connection.ts'
import { findFlush, type Searched } from '../../protocol/pkt-line.ts'

/** A program that is spoken to in turns: each of its answers ends with a flush packet. */
export interface Conversation {
  /** Resolves when the bytes are on their way. */
  say(parts: readonly Uint8Array[]): Promise<void>
  /**
   * The next answer. Undefined: it is larger than its bounds allow, and the program is ended.
   * @throws what the budget throws
   */
  hear(bounds: BodyBounds): Promise<Heard | undefined>
  /** Whether another command may be said. */
  isOpen(): boolean
  end(): void
}

export interface Heard {
  /** Up to and with the flush packet; what there is of it, if it ends too early or is not made of packets. */
  readonly answer: Buffer
  /** The program ended before the flush packet. */
  readonly isCut: boolean
  readonly release: Release
}

/** Bytes that are handed to the stream at once. */
const SLICE = 64 * 1024

/** Speaks with a program on its standard input and output. `transferred` is told of each piece. */
export function converse(
  stream: Duplex,
  transferred: (bytes: Transferred) => void = () => undefined,
): Conversation {
  const chunks: AsyncIterator<Buffer, unknown> = stream[Symbol.asyncIterator]()
  let isOpen = true
  let rest = Buffer.alloc(0)

  function end(): void {
    isOpen = false
    stream.destroy()
  }

  async function nextChunk(): Promise<Buffer | undefined> {
    // A stream that is destroyed ends with an error; why it was is known elsewhere.
    const next = await chunks.next().catch(() => undefined)
    if (next === undefined || next.done === true) return undefined
    transferred({ sent: 0, received: next.value.length })
    return next.value
  }

  return {
    async say(parts) {
      for (const part of parts) {
        transferred({ sent: part.length, received: 0 })
        for (let at = 0; at < part.length; at += SLICE) await write(stream, part.subarray(at, at + SLICE))
      }
    },
    async hear({ most, take, shorten = (piece) => piece }) {
      const { more, release, throwRefusal } = takeFrom(take)
      const buffer = growingBuffer(most, more)
      let searched: Searched = { at: 0, packets: 0 }
      for (let chunk: Buffer | undefined = rest; chunk !== undefined; chunk = await nextChunk()) {
        if (!buffer.add(shorten(chunk))) {
          end()
          release()
          throwRefusal()
          return undefined
        }
        const found = findFlush(buffer.bytes(), searched)
        if ('end' in found) {
          rest = Buffer.from(buffer.bytes().subarray(found.end))
          return { answer: buffer.bytes().subarray(0, found.end), isCut: false, release }
        }
        searched = found
      }
      end()
      return { answer: buffer.bytes(), isCut: true, release }
    },
    isOpen: () => isOpen && !stream.destroyed,
    end,
  }
}

/** Waits until the stream takes more. Where the program does not read to the end, its answer says why. */
async function write(stream: Duplex, bytes: Uint8Array): Promise<void> {
  if (stream.destroyed) return
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const done = (): void => resolve(undefined)
  stream.once('close', done)
  stream.write(bytes, done)
  await promise
  stream.off('close', done)
}
