import { createECDH, createPrivateKey } from 'node:crypto'
import { encoded } from './found-key.ts'
import type { FoundKey } from './found-key.ts'

/** One of the three curves that SSH and Git hosts know, by its names. */
export interface Curve {
  /** Object identifier, as bytes in hexadecimal (RFC 5480, section 2.1.1.1). */
  readonly oid: string
  /** Type of the key in SSH (RFC 5656, section 10.1). */
  readonly ssh: string
  /** In JSON Web Keys (RFC 7518, section 6.2.1.1). */
  readonly jwk: string
  readonly openssl: string
  /** Length of a private key and of a coordinate. */
  readonly bytes: number
}

const CURVES: readonly Curve[] = [
  {
    oid: '2a8648ce3d030107',
    ssh: 'ecdsa-sha2-nistp256',
    jwk: 'P-256',
    openssl: 'prime256v1',
    bytes: 32,
  },
  { oid: '2b81040022', ssh: 'ecdsa-sha2-nistp384', jwk: 'P-384', openssl: 'secp384r1', bytes: 48 },
  { oid: '2b81040023', ssh: 'ecdsa-sha2-nistp521', jwk: 'P-521', openssl: 'secp521r1', bytes: 66 },
]

/** The curve with this name; undefined: another one. */
export function curveOf(name: 'oid' | 'ssh', value: string): Curve | undefined {
  return CURVES.find((curve) => curve[name] === value)
}

/** Both halves of an ECDSA key as in the file. */
export interface ECDSAHalves {
  /** The private key, the most significant byte first, without leading zeros or with them. */
  readonly secret: Buffer
  /** The public key as a point (SEC 1, section 2.3.3); undefined: the file has none. */
  readonly point: Buffer | undefined
}

/** An ECDSA key from these halves. Throws if they are too long, are no key of the curve or do not belong together. */
export function ecdsaKey(curve: Curve, { secret, point }: ECDSAHalves): FoundKey {
  const { bytes } = curve
  if (secret.length > bytes) throw new RangeError('A private key longer than the curve.')
  const d = Buffer.concat([Buffer.alloc(bytes - secret.length), secret])
  const ecdh = createECDH(curve.openssl)
  ecdh.setPrivateKey(d)
  const derived = ecdh.getPublicKey()
  const known = [derived, ecdh.getPublicKey(null, 'compressed')]
  if (point !== undefined && !known.some((own) => own.equals(point)))
    throw new RangeError('The public key of another private key.')
  const [x, y] = [derived.subarray(1, bytes + 1), derived.subarray(bytes + 1)]
  const jwk = { kty: 'EC', crv: curve.jwk, ...encoded({ d, x, y }) }
  const key = createPrivateKey({ key: jwk, format: 'jwk' })
  return { pem: String(key.export({ type: 'sec1', format: 'pem' })), key }
}
