import type { Failure } from '../failure.ts'
import type { Write } from './json-node.ts'

// Characters to collect before they are encoded: few large buffers instead of many small strings.
const CHUNK_CHARACTERS = 64 * 1024

/** A text that is written piece by piece and read as bytes at the end. */
export interface BoundedText {
  readonly write: Write
  /** Everything that was written, in UTF-8. */
  readonly bytes: () => Uint8Array
}

/**
 * Collects at most `limit` bytes of UTF-8. A longer text is refused with the Failure that `tooLong` makes, at most
 * 64 Ki characters and one piece after the limit, so that it never grows far beyond it. A piece must not end within a
 * surrogate pair.
 */
export function boundedText(limit: number, tooLong: () => Failure): BoundedText {
  const encoder = new TextEncoder()
  const chunks: Uint8Array[] = []
  let pending = ''
  let size = 0

  function flush(): void {
    const chunk = encoder.encode(pending)
    pending = ''
    size += chunk.length
    if (size > limit) throw tooLong()
    chunks.push(chunk)
  }

  function write(piece: string): void {
    pending += piece
    if (pending.length >= CHUNK_CHARACTERS) flush()
  }

  function bytes(): Uint8Array {
    flush()
    return Buffer.concat(chunks, size)
  }

  return { write, bytes }
}
