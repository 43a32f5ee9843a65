/** The most that one instruction inserts. */
const MOST_INSERTED = 0x7f

/** The most that Git copies with one instruction, though the format has room for more. */
const MOST_COPIED = 0x10000

/** Bytes that are compared at once. */
const BLOCK = 1024

/**
 * The delta (gitformat-pack(5)) from an object to a similar one: what they have in common at the beginning and at the
 * end is copied, what is between is inserted. That is all that a tree with one new entry needs.
 */
export function writeDelta(base: Buffer, body: Buffer): Buffer {
  const head = commonHead(base, body)
  const tail = commonTail(base.subarray(head), body.subarray(head))
  const middle = body.subarray(head, body.length - tail)
  return Buffer.concat([
    Buffer.from([...size(base.length), ...size(body.length), ...copy(0, head)]),
    ...insert(middle),
    Buffer.from(copy(base.length - tail, tail)),
  ])
}

function commonHead(one: Buffer, other: Buffer): number {
  const most = Math.min(one.length, other.length)
  let length = 0
  while (length + BLOCK <= most && one.compare(other, length, length + BLOCK, length, length + BLOCK) === 0)
    length += BLOCK
  while (length < most && one[length] === other[length]) length++
  return length
}

function commonTail(one: Buffer, other: Buffer): number {
  const most = Math.min(one.length, other.length)
  const shift = other.length - one.length
  let start = one.length
  const least = one.length - most
  while (
    start - BLOCK >= least &&
    one.compare(other, start - BLOCK + shift, start + shift, start - BLOCK, start) === 0
  )
    start -= BLOCK
  while (start > least && one[start - 1] === other[start - 1 + shift]) start--
  return one.length - start
}

function insert(bytes: Buffer): readonly Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += MOST_INSERTED) {
    const part = bytes.subarray(at, at + MOST_INSERTED)
    parts.push(Buffer.from([part.length]), part)
  }
  return parts
}

function copy(offset: number, length: number): readonly number[] {
  const codes: number[] = []
  for (let done = 0; done < length; done += MOST_COPIED)
    codes.push(...copyOnce(offset + done, Math.min(MOST_COPIED, length - done)))
  return codes
}

// Little-endian; a byte that is zero is left out, and its bit in the first byte is not set. A size without bytes is 64 KiB.
function copyOnce(offset: number, length: number): readonly number[] {
  const bytes = [
    ...[0, 8, 16, 24].map((bits) => (offset >>> bits) & 0xff),
    length & 0xff,
    (length >> 8) & 0xff,
  ]
  const code = bytes.reduce((bits, byte, i) => (byte === 0 ? bits : bits | (1 << i)), 0x80)
  return [code, ...bytes.filter((byte) => byte !== 0)]
}

function size(length: number): readonly number[] {
  const bytes: number[] = []
  let left = length
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) | 0x80)
  return [...bytes, left]
}
