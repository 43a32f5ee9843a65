import { readOctets } from './octets.ts'
import { newLength } from './packets.ts'

/** What a signature in a key file says of the key before it. */
export interface KeyStatement {
  /** RFC 9580, section 5.2.1. */
  readonly type: number
  /** When it was made, in seconds since 1970. */
  readonly made: number
  /** What the key is for (RFC 9580, section 5.2.3.29); undefined: it does not say. */
  readonly flags: number | undefined
  /** For how many seconds the key is valid after it was made; 0: for ever. */
  readonly lifetime: number
  /** The key ID of who says it; undefined: it does not say. */
  readonly issuer: Buffer | undefined
}

/** RFC 9580, section 5.2.3.7. */
const SUBPACKET = { made: 2, lifetime: 9, issuer: 16, flags: 27 }
/** The flag of a key that signs data. */
export const SIGNS = 0x02

/**
 * Reads the body of a signature packet; undefined: it is of another version than 4. That it is right is not checked: who
 * verifies a commit does that.
 * @throws RangeError if it is cut
 */
export function readStatement(body: Buffer): KeyStatement | undefined {
  const from = readOctets(body)
  if (from.number(1) !== 4) return undefined
  const type = from.number(1)
  // The algorithms.
  from.take(2)
  const hashed = readSubpackets(from.take(from.number(2)))
  const others = readSubpackets(from.take(from.number(2)))
  const numberOf = (subpacket: number): number => {
    const value = hashed.get(subpacket)
    return value === undefined ? 0 : readOctets(value).number(4)
  }
  return {
    type,
    made: numberOf(SUBPACKET.made),
    flags: hashed.get(SUBPACKET.flags)?.[0],
    lifetime: numberOf(SUBPACKET.lifetime),
    issuer: hashed.get(SUBPACKET.issuer) ?? others.get(SUBPACKET.issuer),
  }
}

/** The values of an area of subpackets by their types. */
function readSubpackets(area: Buffer): ReadonlyMap<number, Buffer> {
  const from = readOctets(area)
  const found = new Map<number, Buffer>()
  while (from.left() > 0) {
    const subpacket = from.take(newLength(from, 'subpacket'))
    // The first bit says that it must not be ignored.
    found.set((subpacket[0] ?? 0) & 0x7f, subpacket.subarray(1))
  }
  return found
}
