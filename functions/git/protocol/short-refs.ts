import { lengthAt } from './pkt-line.ts'
import { isRefLine, refFinder } from './ref-line.ts'

/** A list of refs as it comes: what is kept of its next piece. */
export type ShortRefs = (piece: Uint8Array) => Buffer

/** 25,000 branches of the longest names. What is beyond is kept, for the bounds of the reader to end. */
const MOST_BYTES = 20 * 1024 * 1024
/** What is beyond is rare, and has to be allowed. */
const USUAL_BYTES = 4 * 1024 * 1024
/** Each packet costs some 0.2 microseconds, and each piece as much: a ref takes 50 bytes, and pieces are longer. */
const LEAST_AVERAGE_BYTES = 50
const SHORT_ONES = 8_192
const LENGTH_BYTES = 4
const LARGEST_PACKET = 65_520

/**
 * Leaves out the refs that have other full names than these, but for the first one, which says what the server can do, and that
 * there are refs. A server lists all refs whose names begin with one that is asked for, or, before a push over SSH, all that there
 * are; and whoever may commit can make thousands of branches. What is no ref, and all after the first flush packet, is kept as it is.
 * `allowLong`: whether so many more bytes may be read of a list that is longer than 4 MiB.
 */
export function shortRefs(
  names: readonly string[],
  allowLong: (bytes: number) => boolean = () => true,
): ShortRefs {
  const find = refFinder(names)
  const held = Buffer.allocUnsafe(LARGEST_PACKET)
  let [size, wanted] = [0, LENGTH_BYTES]
  let [bytes, ones] = [0, 0]
  let hasFirst = false
  let isOver = false
  // The first packet is kept as it comes: where an answer ends within it, the reader says so.
  let isBeginning = true

  function isKept(content: Buffer): boolean {
    if (!isRefLine(content)) return true
    const isFirst = !hasFirst
    hasFirst = true
    return isFirst || find(content) !== undefined
  }

  function isTooMuch(more: number): boolean {
    if (bytes > MOST_BYTES || ones > SHORT_ONES + bytes / LEAST_AVERAGE_BYTES) return true
    return bytes > USUAL_BYTES && !allowLong(more)
  }

  /** What is kept of what is held, which has as many bytes as were wanted. */
  function take(): Buffer | undefined {
    const length = size === LENGTH_BYTES ? lengthAt(held, 0) : size
    if (length === undefined || length === 0) isOver = true
    if (length !== undefined && length > size) {
      wanted = length
      return undefined
    }
    ones += 1
    const isDropped = !isOver && !isKept(held.subarray(LENGTH_BYTES, size))
    const kept = isDropped || isBeginning ? undefined : Buffer.from(held.subarray(0, size))
    isBeginning = false
    size = 0
    wanted = LENGTH_BYTES
    return kept
  }

  return (piece) => {
    const kept: Uint8Array[] = []
    bytes += piece.length
    ones += 1
    if (!isOver && isTooMuch(piece.length)) {
      isOver = true
      if (!isBeginning) kept.push(held.subarray(0, size))
    }
    let at = 0
    while (at < piece.length && !isOver) {
      const part = piece.subarray(at, at + wanted - size)
      held.set(part, size)
      size += part.length
      at += part.length
      if (isBeginning) kept.push(part)
      const taken = size === wanted ? take() : undefined
      if (taken !== undefined) kept.push(taken)
    }
    kept.push(piece.subarray(at))
    return Buffer.concat(kept)
  }
}
