import { growingBuffer } from '../../domain/network/growing-buffer.ts'
import { lengthAt, packet } from './pkt-line.ts'
import { KEPT_BYTES } from './side-band.ts'

/** An answer of git-receive-pack as it comes: what is kept of its next piece. */
export type ShortReport = (piece: Uint8Array) => Buffer

/**
 * What hooks may print: 500 messages of 64 KiB, each twice. What is beyond is kept, in packets as before, for the bounds of the
 * reader to end.
 */
const MOST_BYTES = 64 * 1024 * 1024
/** Git sends words in packets of 128 bytes. Each costs some 0.4 microseconds, however short it is. */
const MOST_PACKETS = MOST_BYTES / 128
/** The length of a packet and the number of its band. */
const HEAD_BYTES = 5
const LENGTH_BYTES = 4
/** What the server and its hooks print for the user. */
const WORDS = 2
/** Content of a packet in which words are kept. */
const PART_BYTES = 60_000

/**
 * Leaves out what hooks print beyond the first 256 KiB, and the packets of single lines that they print it in: the report
 * comes after it, and says what became of the push. What is not made of packets, and all after the first flush packet,
 * is kept as it is.
 */
export function shortReport(): ShortReport {
  const words = growingBuffer(KEPT_BYTES)
  const head = Buffer.alloc(HEAD_BYTES)
  let [written, size, left, gone] = [0, 0, 0, 0]
  let [bytes, packets] = [0, 0]
  let isOver = false
  let kept: Uint8Array[] = []

  /** Words are kept in large packets, in their place before what comes next. */
  function keepAfterWords(next: Uint8Array): void {
    const rest = words.bytes().subarray(written)
    for (let at = 0; at < rest.length; at += PART_BYTES)
      kept.push(packet(Buffer.concat([Buffer.of(WORDS), rest.subarray(at, at + PART_BYTES)])))
    written += rest.length
    kept.push(Buffer.from(next))
  }

  /** The head of a packet, as soon as its kind is known. */
  function begin(): void {
    const length = lengthAt(head, 0)
    if (length !== undefined && length > LENGTH_BYTES && size < HEAD_BYTES) return
    packets += 1
    if (length === undefined || length === 0 || packets > MOST_PACKETS) isOver = true
    if (length !== undefined && length > LENGTH_BYTES) left = length - HEAD_BYTES
    if (left > 0 && head[LENGTH_BYTES] === WORDS && !isOver) gone = left
    else if (length !== HEAD_BYTES || head[LENGTH_BYTES] !== WORDS) keepAfterWords(head.subarray(0, size))
    size = 0
  }

  function content(part: Uint8Array): void {
    left -= part.length
    if (gone === 0) kept.push(part)
    else words.add(part.subarray(0, KEPT_BYTES - words.bytes().length))
    if (left === 0) gone = 0
  }

  /** From here on all is kept. The rest of a packet of words remains one: they may look like a report. */
  function end(): void {
    if (isOver) return
    isOver = true
    const length = (left + HEAD_BYTES).toString(16).padStart(LENGTH_BYTES, '0')
    keepAfterWords(gone > 0 ? Buffer.from([...Buffer.from(length), WORDS]) : head.subarray(0, size))
  }

  return (piece) => {
    bytes += piece.length
    if (bytes > MOST_BYTES) end()
    let at = 0
    while (at < piece.length && !isOver) {
      if (left > 0) {
        const part = piece.subarray(at, at + left)
        at += part.length
        content(part)
      } else {
        head[size] = piece[at] ?? 0
        size += 1
        at += 1
        if (size >= LENGTH_BYTES) begin()
      }
    }
    if (at < piece.length) kept.push(piece.subarray(at))
    const all = Buffer.concat(kept)
    kept = []
    return all
  }
}
