import { createPrivateKey } from 'node:crypto'
import { encoded, LARGE_EXPONENT, LARGE_PRIME, wrongBits } from './found-key.ts'
import type { FoundKey } from './found-key.ts'

/**
 * The integers of an RSA key by their names in RFC 7518, section 6.3: bytes without leading zeros, the most significant
 * first. OpenSSH's format leaves two of them out.
 */
export type RSAParts = Readonly<
  Record<'n' | 'e' | 'd' | 'p' | 'q' | 'qi', Buffer> & Partial<Record<'dp' | 'dq', Buffer>>
>

/** Shorter keys are not secure (NIST SP 800-131A); signing with longer ones would block all other attempts. */
const BITS = { least: 2048, most: 8192 }
/** What OpenSSL allows for large keys; the usual exponent has 17 bits. */
const EXPONENT_BITS = 64
/** How much longer than half of the modulus a prime may be: a signature takes time by the cube of its length. */
const PRIME_EXCESS_BITS = 64

/**
 * An RSA key from these integers, whose sizes are read before anything is computed. What is computed takes less than a
 * millisecond, whatever they are. Throws if they do not belong together.
 */
export function rsaKey(parts: RSAParts): FoundKey {
  const bits = bitsOf(parts.n)
  if (bits < BITS.least || bits > BITS.most) return { complaint: wrongBits(bits, BITS) }
  if (bitsOf(parts.e) > EXPONENT_BITS) return { complaint: LARGE_EXPONENT }
  const values = Object.values(parts)
  if (values.some((value) => bitsOf(value) > bits))
    throw new RangeError('An integer larger than the modulus.')
  const longest = Math.max(bitsOf(parts.p), bitsOf(parts.q))
  if (longest > bits / 2 + PRIME_EXCESS_BITS) return { complaint: LARGE_PRIME }
  const { dp = exponentFor(parts.d, parts.p), dq = exponentFor(parts.d, parts.q) } = parts
  const whole = { ...parts, dp, dq }
  if (!belongTogether(whole)) throw new RangeError('Integers of different keys.')
  const jwk = { kty: 'RSA', ...encoded(whole) }
  const key = createPrivateKey({ key: jwk, format: 'jwk' })
  return { pem: String(key.export({ type: 'pkcs1', format: 'pem' })), key }
}

function exponentFor(d: Buffer, prime: Buffer): Buffer {
  const hex = (numberOf(d) % (numberOf(prime) - 1n)).toString(16)
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
}

// RFC 8017, section 3.2. With this a signature is right if both factors are primes, which takes too long to check here.
function belongTogether(parts: Required<RSAParts>): boolean {
  const [n, e, d, p] = [numberOf(parts.n), numberOf(parts.e), numberOf(parts.d), numberOf(parts.p)]
  const [q, dp, dq, qi] = [numberOf(parts.q), numberOf(parts.dp), numberOf(parts.dq), numberOf(parts.qi)]
  if (p < 3n || q < 3n || p * q !== n || n % 2n === 0n || e < 3n) return false
  const isInverse = (e * d) % (p - 1n) === 1n && (e * d) % (q - 1n) === 1n && (qi * q) % p === 1n
  return isInverse && d < n && dp === d % (p - 1n) && dq === d % (q - 1n) && qi < p
}

function bitsOf(magnitude: Buffer): number {
  return magnitude.length === 0 ? 0 : magnitude.length * 8 - Math.clz32(magnitude[0] ?? 0) + 24
}

function numberOf(bytes: Buffer): bigint {
  return BigInt(`0x0${bytes.toString('hex')}`)
}
