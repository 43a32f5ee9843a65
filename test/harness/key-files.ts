import { generateKeyPairSync } from 'node:crypto'
import { der, integer, oid, opensshKey, pem, pkcs8, sequence, signedBytes } from './der-writer.ts'

/** Object identifiers as hexadecimal digits, for `oid`. */
export const OID = {
  rsa: '2a864886f70d010101',
  ecdsa: '2a8648ce3d0201',
  ed25519: '2b6570',
  p256: '2a8648ce3d030107',
  p521: '2b81040023',
}

/** An element of DER that is empty: the parameters of RSA. */
export const DER_NULL = Buffer.from([5, 0])

const NAMES = ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'] as const

/** The integers of an RSA key by their names in JSON Web Keys. */
export type RSANumbers = Readonly<Record<(typeof NAMES)[number], bigint>>

/** The integers of a new RSA key. */
export function makeRSA(modulusLength: number): RSANumbers {
  const { n, e, d, p, q, dp, dq, qi } = generateKeyPairSync('rsa', { modulusLength }).privateKey.export({
    format: 'jwk',
  })
  const [first, second] = [
    { n, e, d, p },
    { q, dp, dq, qi },
  ].map((half) => Object.values(half).map((value) => numberIn(value ?? '')))
  return fromNumbers([...(first ?? []), ...(second ?? [])])
}

/** An RSA key whose first factor is no prime, but a multiple of 3: every equation holds, but no signature is right. */
export function withoutPrime({ p, q, e }: RSANumbers): RSANumbers {
  let wrong = p + (p % 3n) * 2n
  let d: bigint | undefined
  for (; d === undefined; wrong += 6n) d = inverse(e, (wrong - 1n) * (q - 1n))
  wrong -= 6n
  const rest = [d % (wrong - 1n), d % (q - 1n), inverse(q, wrong) ?? 0n]
  return fromNumbers([wrong * q, e, d, wrong, q, ...rest])
}

/** These integers as a file in each format. */
export function rsaFiles(key: RSANumbers): readonly (readonly [form: string, text: string])[] {
  const { n, e, d, p, q, qi } = key
  return [
    ['PKCS#1', pem('RSA PRIVATE KEY', pkcs1(key))],
    ['PKCS#8', pem('PRIVATE KEY', pkcs8(OID.rsa, DER_NULL, pkcs1(key)))],
    ['OpenSSH', opensshKey('ssh-rsa', [n, e, d, qi, p, q].map(signedBytes))],
  ]
}

/** These integers as PKCS#1, with another version and elements behind. */
export function pkcs1(key: RSANumbers, version = 0n, ...more: readonly Buffer[]): Buffer {
  return sequence(integer(version), ...NAMES.map((name) => integer(key[name])), ...more)
}

/** A private key on a curve as SEC1 has it; curve and point may be left out. */
export function sec1(
  secret: Buffer,
  more: { readonly curve?: string; readonly point?: Buffer } = {},
): Buffer {
  const { curve, point } = more
  return sequence(
    integer(1n),
    der(4, secret),
    ...(curve === undefined ? [] : [der(0xa0, oid(curve))]),
    ...(point === undefined ? [] : [der(0xa1, der(3, Buffer.from([0]), point))]),
  )
}

/** The largest number with this many bits. */
export function huge(bits: number): bigint {
  return (1n << BigInt(Math.floor(bits))) - 1n
}

/** Sequences in each other. */
export function nested(depth: number): Buffer {
  return Array.from({ length: depth }).reduce((inside: Buffer) => sequence(inside), Buffer.alloc(0))
}

function fromNumbers([n = 0n, e = 0n, d = 0n, p = 0n, ...rest]: readonly bigint[]): RSANumbers {
  const [q = 0n, dp = 0n, dq = 0n, qi = 0n] = rest
  return { n, e, d, p, q, dp, dq, qi }
}

function numberIn(base64url: string): bigint {
  return BigInt(`0x${Buffer.from(base64url, 'base64url').toString('hex')}`)
}

// The extended algorithm of Euclid.
function inverse(a: bigint, m: bigint): bigint | undefined {
  let [r, next, s, nextS] = [m, a % m, 0n, 1n]
  while (next !== 0n) {
    const quotient = r / next
    ;[r, next, s, nextS] = [next, r - quotient * next, nextS, s - quotient * nextS]
  }
  return r === 1n ? (s + m) % m : undefined
}
