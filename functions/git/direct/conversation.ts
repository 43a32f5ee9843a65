import type { Duplex } from 'node:stream'
import type { Release } from '../../domain/network/budget.ts'
import { growingBuffer } from '../../domain/network/growing-buffer.ts'
import { takeFrom, type BodyBounds } from '../../http/bounded-body.ts'

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

const LENGTH_DIGITS = 4
/** Bytes that are handed to the stream at once. */
const SLICE = 64 * 1024

/** Speaks with a program on its standard input and output. */
export function converse(stream: Duplex): Conversation {
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
    return next === undefined || next.done === true ? undefined : next.value
  }

  return {
    async say(parts) {
      for (const part of parts)
        for (let at = 0; at < part.length; at += SLICE) await write(stream, part.subarray(at, at + SLICE))
    },
    async hear({ most, take }) {
      const { more, release, throwRefusal } = takeFrom(take)
      const buffer = growingBuffer(most, more)
      let at = 0
      for (let chunk: Buffer | undefined = rest; chunk !== undefined; chunk = await nextChunk()) {
        if (!buffer.add(chunk)) {
          end()
          release()
          throwRefusal()
          return undefined
        }
        const { end: found, next } = findFlush(buffer.bytes(), at)
        at = next
        if (found === undefined) continue
        rest = Buffer.from(buffer.bytes().subarray(found))
        return { answer: buffer.bytes().subarray(0, found), isCut: false, release }
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

/** Where the first flush packet from `at` on ends; else where the search goes on when there are more bytes. */
function findFlush(bytes: Buffer, at: number): { readonly end?: number; readonly next: number } {
  let next = at
  while (next + LENGTH_DIGITS <= bytes.length) {
    const digits = bytes.toString('latin1', next, next + LENGTH_DIGITS)
    if (digits === '0000') return { end: next + LENGTH_DIGITS, next }
    // What has no valid length is for the reader to refuse.
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) return { end: bytes.length, next }
    next += Math.max(Number.parseInt(digits, 16), LENGTH_DIGITS)
  }
  return { next }
}
