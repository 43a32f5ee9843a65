import { readDER, readSequence, TAG } from './der.ts'
import type { DERReader } from './der.ts'
import { curveOf, ecdsaKey } from './ecdsa-key.ts'
import type { Curve } from './ecdsa-key.ts'
import { ed25519Key } from './ed25519-key.ts'
import { DSA, EXPLICIT_CURVE, UNSUPPORTED } from './found-key.ts'
import type { FoundKey } from './found-key.ts'
import { rsaKey } from './rsa-key.ts'

/** Object identifiers of algorithms, as bytes in hexadecimal. */
const ALGORITHMS = {
  rsa: '2a864886f70d010101',
  ecdsa: '2a8648ce3d0201',
  ed25519: '2b6570',
  dsa: '2a8648ce380401',
}

/** Reads an `RSA PRIVATE KEY`: RSAPrivateKey of RFC 8017, appendix A.1.2. Throws if it is broken. */
export function readPKCS1(bytes: Buffer): FoundKey {
  const from = readSequence(bytes)
  const version = versionOf(from)
  // A key of more than two primes, which SSH does not have.
  if (version === 1) return { complaint: UNSUPPORTED }
  if (version !== 0) throw new RangeError('An unknown version.')
  const [n, e, d, p] = [from.unsigned(), from.unsigned(), from.unsigned(), from.unsigned()]
  const [q, dp, dq, qi] = [from.unsigned(), from.unsigned(), from.unsigned(), from.unsigned()]
  from.end()
  return rsaKey({ n, e, d, p, q, dp, dq, qi })
}

/**
 * Reads an `EC PRIVATE KEY`: ECPrivateKey of RFC 5915, section 3, whose curve may be known already. Throws if it is
 * broken.
 */
export function readSEC1(bytes: Buffer, known?: Curve): FoundKey {
  const from = readSequence(bytes)
  if (versionOf(from) !== 1) throw new RangeError('An unknown version.')
  const secret = from.read(TAG.octetString)
  const named = from.tag() === TAG.context0 ? readDER(from.read(TAG.context0)) : undefined
  const inner = named === undefined ? known : curveIn(named)
  const point = from.tag() === TAG.context1 ? pointIn(from.read(TAG.context1)) : undefined
  from.end()
  if (inner === undefined || typeof inner === 'string') return { complaint: inner ?? UNSUPPORTED }
  if (known !== undefined && known !== inner) throw new RangeError('Two curves.')
  return ecdsaKey(inner, { secret, point })
}

/** Reads a `PRIVATE KEY` (PKCS#8): OneAsymmetricKey of RFC 5958, section 2. Throws if it is broken. */
export function readPKCS8(bytes: Buffer): FoundKey {
  const from = readSequence(bytes)
  if (versionOf(from) > 1) throw new RangeError('An unknown version.')
  const algorithm = readDER(from.read(TAG.sequence))
  const kind = algorithm.read(TAG.oid).toString('hex')
  if (kind === ALGORITHMS.dsa) return { complaint: DSA }
  if (!Object.values(ALGORITHMS).includes(kind)) return { complaint: UNSUPPORTED }
  const curve = kind === ALGORITHMS.ecdsa ? curveIn(algorithm) : undefined
  if (typeof curve === 'string') return { complaint: curve }
  if (curve === undefined && algorithm.tag() === TAG.null) algorithm.read(TAG.null)
  algorithm.end()
  const key = from.read(TAG.octetString)
  // Attributes and a copy of the public key, of which nothing is used.
  if (from.tag() === TAG.context0) from.read(TAG.context0)
  if (from.tag() === TAG.plainContext1) from.read(TAG.plainContext1)
  from.end()
  if (curve !== undefined) return readSEC1(key, curve)
  return kind === ALGORITHMS.rsa ? readPKCS1(key) : readSeed(key)
}

// CurvePrivateKey of RFC 8410, section 7.
function readSeed(bytes: Buffer): FoundKey {
  const from = readDER(bytes)
  const seed = from.read(TAG.octetString)
  from.end()
  return ed25519Key({ seed, publicHalf: undefined })
}

/** The curve, or what is wrong with it. */
function curveIn(parameters: DERReader): Curve | string {
  if (parameters.tag() === TAG.sequence) return EXPLICIT_CURVE
  const curve = curveOf('oid', parameters.read(TAG.oid).toString('hex'))
  parameters.end()
  return curve ?? UNSUPPORTED
}

function pointIn(bytes: Buffer): Buffer {
  const from = readDER(bytes)
  const bits = from.read(TAG.bitString)
  from.end()
  if (bits[0] !== 0) throw new RangeError('A point that does not end with a whole byte.')
  return bits.subarray(1)
}

function versionOf(from: DERReader): number {
  const version = from.unsigned()
  if (version.length > 1) throw new RangeError('An unknown version.')
  return version[0] ?? 0
}
