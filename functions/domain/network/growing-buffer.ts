/** Bytes of the first buffer: most events and answers fit. */
const FIRST = 1024

/** Bytes that come in pieces, copied into one buffer. */
export interface GrowingBuffer {
  /** Copies the piece. False, and nothing is added, if it does not fit. */
  readonly add: (piece: Uint8Array) => boolean
  /** Everything so far, without a copy: not to be used after the next piece, with which it may lose its memory. */
  readonly bytes: () => Buffer<ArrayBuffer>
}

/**
 * An empty buffer for at most `most` bytes, which doubles when it is full. A list of pieces would keep some 450 bytes
 * for each of them, even for one byte (measured with Node 24). `reserve` is asked before the buffer takes more memory,
 * and may refuse that.
 */
export function growingBuffer(most: number, reserve: (bytes: number) => boolean = () => true): GrowingBuffer {
  let buffer = Buffer.from(new ArrayBuffer(0))
  let size = 0

  function hasRoomFor(needed: number): boolean {
    if (needed <= buffer.length) return true
    if (needed > most) return false
    const capacity = Math.min(most, Math.max(FIRST, 2 * buffer.length, needed))
    if (!reserve(capacity - buffer.length)) return false
    // Frees the smaller one at once: many large answers would leave as much to the next collection as they have. And it is not of
    // Node's pool: a small body must not keep the pieces of others in memory.
    buffer = Buffer.from(buffer.buffer.transfer(capacity))
    return true
  }

  return {
    add(piece) {
      if (!hasRoomFor(size + piece.length)) return false
      buffer.set(piece, size)
      size += piece.length
      return true
    },
    bytes: () => buffer.subarray(0, size),
  }
}
