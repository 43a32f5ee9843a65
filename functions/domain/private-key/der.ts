/**
 * Reads the elements of DER (ITU-T X.690) one after the other, without recursion: the caller opens what it knows. Each
 * method throws a RangeError for what is not DER, such as an indefinite or overlong length, and for another tag than the
 * expected one.
 */
export interface DERReader {
  /** The tag of the next element; undefined at the end. */
  tag(): number | undefined
  /** The content of the next element, which has to have this tag. */
  read(tag: number): Buffer
  /** The bytes of a non-negative INTEGER, without leading zeros: none for zero. */
  unsigned(): Buffer
  /** Throws if anything is left. */
  end(): void
}

/** Tags that are one byte (X.690, section 8.1.2). */
export const TAG = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  sequence: 0x30,
  /** `[0]` and `[1]`, constructed, and `[1]` of a string. */
  context0: 0xa0,
  context1: 0xa1,
  plainContext1: 0x81,
} as const

/** A reader that starts at the beginning of these bytes. */
export function readDER(bytes: Buffer): DERReader {
  let at = 0
  function next(): number {
    const byte = bytes[at++]
    if (byte === undefined) throw new RangeError('The bytes end too early.')
    return byte
  }
  function length(): number {
    const first = next()
    if (first < 0x80) return first
    // Zero bytes of length would be the indefinite form; no key needs more than two.
    const count = first - 0x80
    const value = count === 1 ? next() : count === 2 ? next() * 256 + next() : 0
    if (value < (count === 1 ? 0x80 : 0x100)) throw new RangeError('A length is not the shortest form.')
    return value
  }
  function read(tag: number): Buffer {
    if (next() !== tag) throw new RangeError('An element has another tag than expected.')
    const size = length()
    if (at + size > bytes.length) throw new RangeError('An element is longer than what is left.')
    at += size
    return bytes.subarray(at - size, at)
  }
  return {
    tag: () => bytes[at],
    read,
    unsigned: () => magnitude(read(TAG.integer)),
    end() {
      if (at < bytes.length) throw new RangeError('Something follows the last element.')
    },
  }
}

/** The elements of the SEQUENCE that these bytes are, and nothing else. */
export function readSequence(bytes: Buffer): DERReader {
  const outer = readDER(bytes)
  const content = outer.read(TAG.sequence)
  outer.end()
  return readDER(content)
}

function magnitude(bytes: Buffer): Buffer {
  const [first, second = 0x80] = bytes
  if (first === undefined || first >= 0x80) throw new RangeError('An integer is empty or negative.')
  if (first !== 0) return bytes
  if (second < 0x80) throw new RangeError('An integer is not the shortest form.')
  return bytes.subarray(1)
}
