import type { Algorithms, ParsedKey, PublicKeyAuthMethod, ServerHostKeyAlgorithm } from 'ssh2'
import type { HostKey } from '../../domain/network/known-hosts.ts'

/** Signatures of host keys, by the type of the key (RFC 8332 for RSA: never with SHA-1). */
const SIGNATURES: Readonly<Record<string, readonly ServerHostKeyAlgorithm[]>> = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256'],
}

/**
 * The algorithms that are offered to a server: no SHA-1, no CBC, no MD5 (RFC 9142, and what GitHub, GitLab and
 * Bitbucket still accept). The types of known host keys come first, because a server with several keys shows the first
 * that matches; the other types follow so that the message can name an unknown key. Only groups with fixed primes are
 * offered: checking a prime that the server generated (RFC 4419) would block Node for minutes. Of these, not those of 4,096
 * bits and more: each key exchange would cost 123 ms of CPU.
 */
export function algorithmsFor(known: readonly HostKey[]): Algorithms {
  const first = new Set(known.map(({ type }) => type))
  const types = Object.keys(SIGNATURES).toSorted((a, b) => Number(first.has(b)) - Number(first.has(a)))
  return {
    kex: [
      'curve25519-sha256',
      'curve25519-sha256@libssh.org',
      'ecdh-sha2-nistp256',
      'ecdh-sha2-nistp384',
      'ecdh-sha2-nistp521',
      'diffie-hellman-group14-sha256',
    ],
    serverHostKey: types.flatMap((type) => SIGNATURES[type] ?? []),
    cipher: [
      'aes128-gcm@openssh.com',
      'aes256-gcm@openssh.com',
      'aes128-ctr',
      'aes192-ctr',
      'aes256-ctr',
      'chacha20-poly1305@openssh.com',
    ],
    hmac: [
      'hmac-sha2-256-etm@openssh.com',
      'hmac-sha2-512-etm@openssh.com',
      'hmac-sha2-256',
      'hmac-sha2-512',
    ],
    // Packs are compressed already.
    compress: ['none'],
  }
}

/**
 * The authentication methods: this key only. An RSA key signs with SHA-2 even if the server does not announce support
 * for it (RFC 8332, section 3.3); ssh2 would fall back to SHA-1.
 */
export function authMethods(key: ParsedKey, username: string): PublicKeyAuthMethod[] {
  if (key.type !== 'ssh-rsa') return [{ type: 'publickey', username, key }]
  return RSA_SIGNATURES.map((signature) => ({ type: 'publickey', username, key: signingBy(signature, key) }))
}

const RSA_SIGNATURES = [
  { name: 'rsa-sha2-512', hash: 'sha512' },
  { name: 'rsa-sha2-256', hash: 'sha256' },
] as const

// ssh2 uses the key's type as the name of the signature algorithm.
function signingBy({ name, hash }: (typeof RSA_SIGNATURES)[number], key: ParsedKey): ParsedKey {
  return new Proxy(key, {
    get(target, property): unknown {
      if (property === 'type') return name
      if (property === 'sign') return (data: Buffer) => target.sign(data, hash)
      return Reflect.get(target, property)
    },
  })
}
