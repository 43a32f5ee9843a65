/** Reads the data types of RFC 4251, section 5, one after the other. Each method throws if the bytes end too early. */
export interface WireReader {
  number(): number
  string(): Buffer
  text(): string
  /** Bytes after what was read. */
  left(): number
}

/** A reader that starts at the beginning of these bytes. */
export function readWire(bytes: Buffer): WireReader {
  let at = 0
  function number(): number {
    const value = bytes.readUInt32BE(at)
    at += 4
    return value
  }
  function string(): Buffer {
    const length = number()
    if (at + length > bytes.length) throw new RangeError('A string is longer than what is left.')
    at += length
    return bytes.subarray(at - length, at)
  }
  return { number, string, text: () => string().toString('latin1'), left: () => bytes.length - at }
}

/** A string of RFC 4251: its length in four bytes, then its bytes. */
export function wireString(value: Buffer | string): Buffer {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
