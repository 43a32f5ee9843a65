import { createPublicKey, type KeyObject } from 'node:crypto'
import { wireString } from '../network/ssh-wire.ts'

/** How SSH signs with a key, and its public half as SSH writes it. */
export interface SSHKey {
  /** RFC 4253, section 6.6; RFC 5656, section 3.1; RFC 8709, section 4. */
  readonly publicKey: Buffer
  /** Name of the signature: RFC 8332 for RSA, and that of the key for the others. */
  readonly algorithm: string
  /** As node:crypto takes it; null: the algorithm has its own. */
  readonly digest: string | null
}

/** Names of the curves in SSH by those of JSON Web Keys, and the digest for each (RFC 5656, section 6.2.1). */
const CURVES: Readonly<Record<string, { readonly name: string; readonly digest: string }>> = {
  'P-256': { name: 'nistp256', digest: 'sha256' },
  'P-384': { name: 'nistp384', digest: 'sha384' },
  'P-521': { name: 'nistp521', digest: 'sha512' },
}

/** What SSH needs of this private key: ed25519, ECDSA on a curve of NIST, or RSA. Throws for any other. */
export function sshKeyOf(privateKey: KeyObject): SSHKey {
  const { kty, crv = '', n, e, x, y } = createPublicKey(privateKey).export({ format: 'jwk' })
  if (kty === 'OKP' && crv === 'Ed25519')
    return key('ssh-ed25519', 'ssh-ed25519', { digest: null, parts: [bytes(x)] })
  const curve = CURVES[crv]
  if (kty === 'EC' && curve !== undefined) {
    const name = `ecdsa-sha2-${curve.name}`
    const point = Buffer.concat([Buffer.from([4]), bytes(x), bytes(y)])
    return key(name, name, { digest: curve.digest, parts: [Buffer.from(curve.name), point] })
  }
  if (kty === 'RSA')
    return key('ssh-rsa', 'rsa-sha2-512', {
      digest: 'sha512',
      parts: [positive(bytes(e)), positive(bytes(n))],
    })
  throw new TypeError('SSH has no such key.')
}

/**
 * A non-negative number of these bytes as the content of an mpint (RFC 4251, section 5): no zeros at its beginning, but
 * for the one that keeps it from being negative.
 */
export function positive(magnitude: Buffer): Buffer {
  const first = magnitude.findIndex((byte) => byte !== 0)
  const short = magnitude.subarray(first < 0 ? magnitude.length : first)
  return (short[0] ?? 0) < 0x80 ? short : Buffer.concat([Buffer.alloc(1), short])
}

function key(
  type: string,
  algorithm: string,
  { digest, parts }: { readonly digest: string | null; readonly parts: readonly Buffer[] },
): SSHKey {
  return {
    publicKey: Buffer.concat([wireString(type), ...parts.map((part) => wireString(part))]),
    algorithm,
    digest,
  }
}

function bytes(base64: string | undefined): Buffer {
  return Buffer.from(base64 ?? '', 'base64url')
}
