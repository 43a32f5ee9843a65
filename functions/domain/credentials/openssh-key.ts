import { createPrivateKey, createPublicKey } from 'node:crypto'
import type { JsonWebKey, KeyObject } from 'node:crypto'
import { readWire, wireString } from '../network/ssh-wire.ts'
import type { WireReader } from '../network/ssh-wire.ts'

/** Both halves of a key as in the file; whether they match is not checked. */
export interface KeyPair {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/** The unencrypted part of an OpenSSH file, and a way to read the private half. */
export interface OpenSSHFile {
  /** `none`: the private half is not encrypted. */
  readonly cipher: string
  /** Type of the key, such as ssh-ed25519. */
  readonly type: string
  /** Throws if the private half is encrypted, broken or of a type other than ed25519, RSA and ECDSA. */
  read(): KeyPair
}

const MAGIC = 'openssh-key-v1\0'
/** Curves by the type of the key (RFC 5656, section 10.1). */
const CURVES: Readonly<Record<string, { readonly crv: string; readonly bytes: number }>> = {
  'ecdsa-sha2-nistp256': { crv: 'P-256', bytes: 32 },
  'ecdsa-sha2-nistp384': { crv: 'P-384', bytes: 48 },
  'ecdsa-sha2-nistp521': { crv: 'P-521', bytes: 66 },
}

/**
 * Opens the decoded body of an `OPENSSH PRIVATE KEY` (OpenSSH's PROTOCOL.key). Throws if it is truncated or has
 * another format.
 */
export function openOpenSSH(bytes: Buffer): OpenSSHFile {
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) throw broken('its first bytes')
  const file = readWire(bytes.subarray(MAGIC.length))
  const cipher = file.text()
  file.string()
  file.string()
  if (file.number() !== 1) throw broken('the number of keys')
  const type = readWire(file.string()).text()
  const body = file.string()
  return { cipher, type, read: () => readPair(body) }
}

/** The OpenSSH form of an ed25519 key with this seed and public half, 32 bytes each, with a final newline. */
export function writeEd25519(seed: Buffer, publicHalf: Buffer): string {
  const half = Buffer.concat([wireString('ssh-ed25519'), wireString(publicHalf)])
  // The two numbers at the beginning verify the passphrase; without one they are zero here.
  const pair = Buffer.concat([
    Buffer.alloc(8),
    half,
    wireString(Buffer.concat([seed, publicHalf])),
    wireString(''),
  ])
  const padding = Buffer.from(Array.from({ length: -pair.length & 7 }, (_, i) => i + 1))
  const none = wireString('none')
  const bytes = Buffer.concat([
    Buffer.from(MAGIC),
    ...[none, none, wireString(''), Buffer.from([0, 0, 0, 1])],
    ...[wireString(half), wireString(Buffer.concat([pair, padding]))],
  ])
  const lines = bytes.toString('base64').replace(/.{70}(?=.)/g, '$&\n')
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines}\n-----END OPENSSH PRIVATE KEY-----\n`
}

function readPair(body: Buffer): KeyPair {
  const from = readWire(body)
  if (from.number() !== from.number()) throw broken('the check of the private half')
  const { half, secret } = readHalves(from.text(), from)
  return {
    publicKey: createPublicKey({ key: half, format: 'jwk' }),
    privateKey: createPrivateKey({ key: { ...half, ...secret }, format: 'jwk' }),
  }
}

interface Halves {
  readonly half: JsonWebKey
  readonly secret: JsonWebKey
}

function readHalves(type: string, from: WireReader): Halves {
  if (type === 'ssh-ed25519') return readEd25519(from)
  if (type === 'ssh-rsa') return readRSA(from)
  const curve = CURVES[type]
  if (curve === undefined) throw broken('the type')
  from.string()
  const point = from.string()
  // SEC 1, section 2.3.3: 4, x, y.
  const [x, y] = [point.subarray(1, curve.bytes + 1), point.subarray(curve.bytes + 1)]
  const half = { kty: 'EC', crv: curve.crv, x: encode(x), y: encode(y) }
  return { half, secret: { d: encode(padded(from.string(), curve.bytes)) } }
}

function readEd25519(from: WireReader): Halves {
  const publicHalf = from.string()
  const seed = from.string().subarray(0, 32)
  return { half: { kty: 'OKP', crv: 'Ed25519', x: encode(publicHalf) }, secret: { d: encode(seed) } }
}

// JSON Web Keys (RFC 7518, section 6.3) need two numbers that the file does not have.
function readRSA(from: WireReader): Halves {
  const [n, e, d] = [unsigned(from), unsigned(from), unsigned(from)]
  const [qi, p, q] = [unsigned(from), unsigned(from), unsigned(from)]
  const secret = { d, p, q, qi, dp: remainder(d, p), dq: remainder(d, q) }
  return {
    half: { kty: 'RSA', n: encode(n), e: encode(e) },
    secret: Object.fromEntries(Object.entries(secret).map(([name, value]) => [name, encode(value)])),
  }
}

function remainder(d: Buffer, prime: Buffer): Buffer {
  const hex = (numberOf(d) % (numberOf(prime) - 1n)).toString(16)
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
}

function numberOf(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`)
}

// An mpint (RFC 4251, section 5) begins with a zero byte if the first bit of the number is set.
function unsigned(from: WireReader): Buffer {
  const bytes = from.string()
  return bytes[0] === 0 ? bytes.subarray(1) : bytes
}

function padded(mpint: Buffer, length: number): Buffer {
  const missing = length - mpint.length
  return missing < 0 ? mpint.subarray(-missing) : Buffer.concat([Buffer.alloc(missing), mpint])
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64url')
}

function broken(what: string): Error {
  return new Error(`Not a valid OpenSSH key: ${what}.`)
}
