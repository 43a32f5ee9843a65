/** Reads what packets hold, one after the other. Each method throws a RangeError where the octets end too early. */
export interface OctetReader {
  /** A number of so many octets, four at most, the most significant first. */
  number(octets: number): number
  take(octets: number): Buffer
  /** A multiprecision integer (RFC 9580, section 3.2), without leading zeros. */
  integer(): Buffer
  /** How many octets come before the next one. */
  at(): number
  /** How many are left. */
  left(): number
}

/** A reader that starts at the beginning of these octets. */
export function readOctets(octets: Buffer): OctetReader {
  let at = 0
  function take(count: number): Buffer {
    if (at + count > octets.length) throw new RangeError('The octets end too early.')
    at += count
    return octets.subarray(at - count, at)
  }
  function number(count: number): number {
    return take(count).readUIntBE(0, count)
  }
  return {
    number,
    take,
    integer: () => magnitude(take(Math.ceil(number(2) / 8))),
    at: () => at,
    left: () => octets.length - at,
  }
}

/** These octets as a multiprecision integer. */
export function writeInteger(octets: Buffer): Buffer {
  const short = magnitude(octets)
  const bits = short.length === 0 ? 0 : short.length * 8 - Math.clz32(short[0] ?? 0) + 24
  return Buffer.concat([writeNumber(bits, 2), short])
}

/** A number as so many octets, the most significant first. */
export function writeNumber(value: number, octets: number): Buffer {
  const written = Buffer.alloc(octets)
  written.writeUIntBE(value, 0, octets)
  return written
}

function magnitude(octets: Buffer): Buffer {
  const first = octets.findIndex((octet) => octet !== 0)
  return octets.subarray(first === -1 ? octets.length : first)
}
