import { BROKEN, type ReadKey } from '../private-key/found-key.ts'
import { plainText } from '../private-key/key-block.ts'
import { PRIVATE_KEY, readArmor } from './armor.ts'
import { ABSENT, ENCRYPTED, FORM, PUBLIC, REVOKED, SEVERAL, SIGNS_NOTHING } from './complaints.ts'
import { readKeyPacket, type KeyPacket } from './key-packet.ts'
import { readStatement, SIGNS, type KeyStatement } from './key-statement.ts'
import { PACKET, readPackets, type Packet } from './packets.ts'

/** A key that signs, as a file of OpenPGP holds it. */
export interface OpenPGPKey extends Pick<KeyPacket, 'algorithm' | 'fingerprint' | 'made'> {
  readonly key: ReadKey['key']
  /** In seconds since 1970; Infinity: never. */
  readonly expires: number
  /** The texts that say whose key it is, as they are. */
  readonly userIDs: readonly string[]
}

/** What was found, or what is wrong with it, as the rest of a sentence. */
export type FoundOpenPGPKey = OpenPGPKey | { readonly complaint: string }

/** Maximum size in bytes: an RSA key of 4096 bits with a subkey has some 10,000. */
const MAX_BYTES = 16_384

/** RFC 9580, section 5.2.1. */
const CERTIFICATIONS: readonly number[] = [0x10, 0x11, 0x12, 0x13]
const DIRECT: readonly number[] = [0x1f]
const BINDING: readonly number[] = [0x18]
const REVOCATIONS: readonly number[] = [0x20, 0x28]

/** The packet of a key or a subkey, and what is said of it. */
interface Part {
  readonly packet: Packet
  readonly statements: KeyStatement[]
}

interface Candidate {
  readonly packet: KeyPacket
  readonly expires: number
}

/** Whether the value is an OpenPGP key, private or public, whatever is in it. */
export function isOpenPGP(value: Uint8Array): boolean {
  return (
    value.length <= MAX_BYTES && /^-----BEGIN PGP (?:PRIVATE|PUBLIC) KEY BLOCK-----$/m.test(plainText(value))
  )
}

/**
 * Finds the key that signs in the armored text: the subkey for signing that was made last, or the key itself, as GnuPG
 * chooses. Kinds and sizes are read before OpenSSL gets any of it, and it gets one key alone. Within 5 ms.
 */
export function findOpenPGPKey(value: Uint8Array): FoundOpenPGPKey {
  if (value.length > MAX_BYTES)
    return { complaint: `holds more than ${MAX_BYTES} bytes, but has to hold ${FORM}` }
  try {
    return readKey(plainText(value).split('\n'))
  } catch {
    // The message of a library may contain a part of the key.
    return { complaint: BROKEN }
  }
}

function readKey(lines: readonly string[]): FoundOpenPGPKey {
  const octets = readArmor(PRIVATE_KEY, lines)
  if (octets === undefined) return { complaint: complaintOf(lines) }
  const packets = readPackets(octets)
  const [first, ...subkeys] = partsOf(packets)
  if (first === undefined || packets[0] !== first.packet) return { complaint: BROKEN }
  if (subkeys.some(({ packet }) => packet.type === PACKET.secretKey)) return { complaint: SEVERAL }
  const primary = readKeyPacket(first.packet.body)
  if ('complaint' in primary) return primary
  const chosen = choose(primary, saidBy(primary, first), subkeys)
  if ('complaint' in chosen) return chosen
  const found = chosen.packet.open()
  if ('complaint' in found) return found
  const { algorithm, fingerprint, made } = chosen.packet
  const userIDs = packets.flatMap(({ type, body }) => (type === PACKET.userID ? [body.toString('utf8')] : []))
  return { algorithm, fingerprint, made, expires: chosen.expires, userIDs, key: found.key }
}

function complaintOf(lines: readonly string[]): string {
  if (lines.some((line) => line.startsWith('-----BEGIN PGP PUBLIC KEY'))) return PUBLIC
  if (lines.some((line) => line.startsWith('-----BEGIN PGP PRIVATE KEY'))) return BROKEN
  return `does not hold an OpenPGP private key in armor, but has to hold ${FORM}; for an SSH key, set spec.signing.format to ssh`
}

/** The keys of the file, each with the signatures between it and the next one. */
function partsOf(packets: readonly Packet[]): readonly Part[] {
  const kinds: readonly number[] = [
    PACKET.secretKey,
    PACKET.publicKey,
    PACKET.secretSubkey,
    PACKET.publicSubkey,
  ]
  const parts: Part[] = []
  for (const packet of packets) {
    if (kinds.includes(packet.type)) parts.push({ packet, statements: [] })
    const statement = packet.type === PACKET.signature ? readStatement(packet.body) : undefined
    if (statement !== undefined) parts.at(-1)?.statements.push(statement)
  }
  return parts
}

/** What this key itself says of a part. */
function saidBy({ fingerprint }: KeyPacket, { statements }: Part): readonly KeyStatement[] {
  const own = fingerprint.subarray(-8)
  return statements.filter(({ issuer }) => issuer?.equals(own) !== false)
}

function choose(
  primary: KeyPacket,
  said: readonly KeyStatement[],
  parts: readonly Part[],
): Candidate | { readonly complaint: string } {
  if (isRevoked(said)) return { complaint: REVOKED }
  const own = latest(said, CERTIFICATIONS) ?? latest(said, DIRECT)
  const expires = endOf(primary, own)
  const subkeys = parts
    .flatMap((part) => signingSubkey(primary, part, expires))
    .toSorted((one, other) => other.packet.made - one.packet.made)
  const signs = ((own?.flags ?? SIGNS) & SIGNS) !== 0
  const all = [...subkeys, ...(signs ? [{ packet: primary, expires }] : [])]
  if (all.length === 0) return { complaint: SIGNS_NOTHING }
  const chosen = all.find(({ packet }) => packet.secret !== 'absent')
  if (chosen === undefined) return { complaint: ABSENT }
  return chosen.packet.secret === 'encrypted' ? { complaint: ENCRYPTED } : chosen
}

/** A subkey that signs, unless it was revoked or cannot be used. */
function signingSubkey(primary: KeyPacket, part: Part, expires: number): readonly Candidate[] {
  const said = saidBy(primary, part)
  const binding = latest(said, BINDING)
  if (part.packet.type !== PACKET.secretSubkey || isRevoked(said)) return []
  if (((binding?.flags ?? 0) & SIGNS) === 0) return []
  const packet = readKeyPacket(part.packet.body)
  if ('complaint' in packet) return []
  return [{ packet, expires: Math.min(expires, endOf(packet, binding)) }]
}

function isRevoked(said: readonly KeyStatement[]): boolean {
  return said.some(({ type }) => REVOCATIONS.includes(type))
}

/** The statement of these types that was made last. */
function latest(said: readonly KeyStatement[], types: readonly number[]): KeyStatement | undefined {
  return said.filter(({ type }) => types.includes(type)).toSorted((one, other) => other.made - one.made)[0]
}

function endOf({ made }: KeyPacket, statement: KeyStatement | undefined): number {
  const lifetime = statement?.lifetime ?? 0
  return lifetime === 0 ? Infinity : made + lifetime
}
