import { readOctets, type OctetReader } from './octets.ts'

/** One packet of a key file (RFC 9580, section 4). */
export interface Packet {
  readonly type: number
  readonly body: Buffer
}

/** The types of packets that are read (RFC 9580, section 5). */
export const PACKET = {
  signature: 2,
  secretKey: 5,
  publicKey: 6,
  secretSubkey: 7,
  userID: 13,
  publicSubkey: 14,
} as const

/**
 * The packets of these octets, in both formats of the header.
 * @throws RangeError if they are cut, or are no packets; a length that is open or in parts is for messages alone
 */
export function readPackets(octets: Buffer): readonly Packet[] {
  const from = readOctets(octets)
  const packets: Packet[] = []
  while (from.left() > 0) {
    const head = from.number(1)
    if ((head & 0x80) === 0) throw new RangeError('No packet.')
    const isNew = (head & 0x40) !== 0
    const type = isNew ? head & 0x3f : (head >> 2) & 0x0f
    packets.push({ type, body: from.take(isNew ? newLength(from) : oldLength(head & 3, from)) })
  }
  return packets
}

/** The length of a packet or of a subpacket (RFC 9580, sections 4.2.1 and 5.2.3.7, which differ from 224 on). */
export function newLength(from: OctetReader, of: 'packet' | 'subpacket' = 'packet'): number {
  const first = from.number(1)
  if (first < 192) return first
  if (first === 255) return from.number(4)
  if (first >= 224 && of === 'packet') throw new RangeError('A length in parts.')
  return ((first - 192) << 8) + from.number(1) + 192
}

/** RFC 9580, section 4.2.2. */
function oldLength(kind: number, from: OctetReader): number {
  const octets = [1, 2, 4][kind]
  if (octets === undefined) throw new RangeError('An open length.')
  return from.number(octets)
}
