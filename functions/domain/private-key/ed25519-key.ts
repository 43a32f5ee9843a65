import { createPrivateKey, createPublicKey } from 'node:crypto'
import { wireString } from '../network/ssh-wire.ts'
import type { FoundKey } from './found-key.ts'

/** The first bytes of an OpenSSH key file (OpenSSH's PROTOCOL.key). */
export const MAGIC = 'openssh-key-v1\0'
/** What comes before the seed of an ed25519 key in PKCS#8 (RFC 8410, section 7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')
const BYTES = 32

/** Both halves of an ed25519 key as in the file. */
export interface Ed25519Halves {
  readonly seed: Buffer
  /** Undefined: the file has none. */
  readonly publicHalf: Buffer | undefined
}

/** An ed25519 key from these halves. Throws if they are not of 32 bytes each or do not belong together. */
export function ed25519Key({ seed, publicHalf }: Ed25519Halves): FoundKey {
  if (seed.length !== BYTES) throw new RangeError('A seed of another length.')
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  const derived = Buffer.from(x, 'base64url')
  if (publicHalf?.equals(derived) === false) throw new RangeError('The public key of another private key.')
  return { pem: writeEd25519(seed, derived), key }
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
