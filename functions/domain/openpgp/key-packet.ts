import { createHash } from 'node:crypto'
import { curveOf, ecdsaKey } from '../private-key/ecdsa-key.ts'
import { ed25519Key } from '../private-key/ed25519-key.ts'
import type { FoundKey } from '../private-key/found-key.ts'
import { rsaKey } from '../private-key/rsa-key.ts'
import { otherVersion, UNSUPPORTED } from './complaints.ts'
import { readOctets, writeNumber, type OctetReader } from './octets.ts'

/** A packet with a secret key. */
export interface KeyPacket {
  /** RFC 9580, section 9.1. */
  readonly algorithm: number
  /** Seconds since 1970. */
  readonly made: number
  readonly fingerprint: Buffer
  /** `absent`: it is kept elsewhere, such as on a card. */
  readonly secret: 'here' | 'encrypted' | 'absent'
  /** Reads the secret half, whose sizes are read before OpenSSL gets it. Throws if it is broken. */
  readonly open: () => FoundKey
}

/** Public-key algorithms (RFC 9580, section 9.1; the second one of ed25519 is that of GnuPG). */
export const ALGORITHM = { rsa: 1, rsaSignOnly: 3, ecdsa: 19, legacyEdDSA: 22, ed25519: 27 } as const

/** RFC 9580, section 9.2. */
const ED25519_OID = '2b06010401da470f01'
/** What stands before the point of a curve that has one form of points (RFC 9580, section 11.2). */
const NATIVE_POINT = 0x40
const ED25519_BYTES = 32

/** RFC 9580, section 3.7.2.1: how the secret half is protected. */
const PLAIN = 0
const WITH_S2K: readonly number[] = [254, 255]
/** GnuPG's doc/DETAILS, "GNU extensions to the S2K algorithm". */
const GNU_S2K = 101

type ReadSecret = (from: OctetReader) => FoundKey

/** How the public half is read, and with it the secret one; undefined: its curve is not supported. */
const ALGORITHMS: Readonly<Record<number, (from: OctetReader) => ReadSecret | undefined>> = {
  [ALGORITHM.rsa]: readRSA,
  [ALGORITHM.rsaSignOnly]: readRSA,
  [ALGORITHM.ecdsa]: readECDSA,
  [ALGORITHM.legacyEdDSA]: readLegacyEdDSA,
  [ALGORITHM.ed25519]: readEd25519,
}

/**
 * Reads the body of a packet with a secret key or subkey (RFC 9580, section 5.5.3), or says what is wrong with it, as
 * the rest of a sentence. Throws if it is broken.
 */
export function readKeyPacket(body: Buffer): KeyPacket | { readonly complaint: string } {
  const from = readOctets(body)
  const version = from.number(1)
  if (version !== 4) return { complaint: otherVersion(version) }
  const made = from.number(4)
  const algorithm = from.number(1)
  const readSecret = ALGORITHMS[algorithm]?.(from)
  if (readSecret === undefined) return { complaint: UNSUPPORTED }
  const publicHalf = body.subarray(0, from.at())
  const protection = from.number(1)
  const secret = body.subarray(from.at())
  return {
    algorithm,
    made,
    fingerprint: fingerprintOf(publicHalf),
    secret: protection === PLAIN ? 'here' : isAbsent(protection, secret) ? 'absent' : 'encrypted',
    open: () => openSecret(secret, readSecret),
  }
}

/** RFC 9580, section 5.5.4.2. */
function fingerprintOf(publicHalf: Buffer): Buffer {
  return createHash('sha1')
    .update(Buffer.concat([Buffer.from([0x99]), writeNumber(publicHalf.length, 2), publicHalf]))
    .digest()
}

function isAbsent(protection: number, secret: Buffer): boolean {
  return WITH_S2K.includes(protection) && secret[1] === GNU_S2K && secret.toString('latin1', 3, 6) === 'GNU'
}

function openSecret(secret: Buffer, readSecret: ReadSecret): FoundKey {
  const from = readOctets(secret)
  const key = readSecret(from)
  const sum = secret.subarray(0, from.at()).reduce((total, octet) => (total + octet) & 0xffff, 0)
  if (from.number(2) !== sum || from.left() > 0) throw new RangeError('The checksum of another key.')
  return key
}

/** RFC 9580, section 5.5.5.1: its `u` is the inverse of the first prime, not of the second. */
function readRSA(from: OctetReader): ReadSecret {
  const [n, e] = [from.integer(), from.integer()]
  return (secret) => {
    const [d, p, q, u] = [secret.integer(), secret.integer(), secret.integer(), secret.integer()]
    return rsaKey({ n, e, d, p: q, q: p, qi: u })
  }
}

/** RFC 9580, section 5.5.5.4. */
function readECDSA(from: OctetReader): ReadSecret | undefined {
  const curve = curveOf('oid', readOID(from))
  const point = from.integer()
  return curve && ((secret) => ecdsaKey(curve, { point, secret: secret.integer() }))
}

/** RFC 9580, section 5.5.5.5. */
function readLegacyEdDSA(from: OctetReader): ReadSecret | undefined {
  if (readOID(from) !== ED25519_OID) return undefined
  const point = from.integer()
  if (point[0] !== NATIVE_POINT) throw new RangeError('A point of another form.')
  return (secret) => {
    const short = secret.integer()
    if (short.length > ED25519_BYTES) throw new RangeError('A private key longer than the curve.')
    const seed = Buffer.concat([Buffer.alloc(ED25519_BYTES - short.length), short])
    return ed25519Key({ seed, publicHalf: point.subarray(1) })
  }
}

/** RFC 9580, section 5.5.5.9. */
function readEd25519(from: OctetReader): ReadSecret {
  const publicHalf = from.take(ED25519_BYTES)
  return (secret) => ed25519Key({ seed: secret.take(ED25519_BYTES), publicHalf })
}

function readOID(from: OctetReader): string {
  return from.take(from.number(1)).toString('hex')
}
