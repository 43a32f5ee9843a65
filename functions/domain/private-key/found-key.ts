import type { KeyObject } from 'node:crypto'

/** A private key that was read. */
export interface ReadKey {
  /** The text that ssh2 gets. */
  readonly pem: string
  /** The same key for node:crypto. */
  readonly key: KeyObject
  /** Only the format of OpenSSH has one. */
  readonly comment?: string
}

/** What a reader made of a key, or what is wrong with it, as the rest of a sentence. */
export type FoundKey = ReadKey | { readonly complaint: string }

/** What is advised for a key that cannot be used for SSH. */
export const MAKE = 'create one with `ssh-keygen -t ed25519 -N ""`, and add its public key at the host'

/** What a Secret has to hold. */
export const FORMS = 'an ed25519, ECDSA or RSA key in the format of OpenSSH, PEM or PKCS#8'

export const BROKEN = 'holds a private key that is cut off or damaged; copy the whole file into it again'

export const ENCRYPTED =
  'holds a private key with a passphrase, which Commitlet cannot ask for; store it without one (`ssh-keygen -p -N "" -f FILE`)'

export const DSA = `holds a DSA key, which no Git host accepts any more; ${MAKE}`

export const UNSUPPORTED = `holds a key of a type that SSH does not support; ${MAKE}`

export const SECURITY_KEY = `holds a key that needs a hardware security key, which a person has to touch; ${MAKE}`

export const EXPLICIT_CURVE =
  'holds an ECDSA key that describes its curve, but has to name it; convert it with `openssl ec -in FILE -param_enc named_curve`'

export const LARGE_EXPONENT = `holds an RSA key with a public exponent of more than 64 bits; ${MAKE}`

export const LARGE_PRIME = `holds an RSA key whose primes are not of the same size; ${MAKE}`

/** An RSA key with a modulus of so many bits, but has to have one of `least` to `most`. */
export function wrongBits(bits: number, { least, most }: Readonly<Record<'least' | 'most', number>>): string {
  return `holds an RSA key of ${bits} bits, but has to hold one of ${least} to ${most}; ${MAKE}`
}

/** Numbers as JSON Web Keys hold them: the only form in which OpenSSL gets a key of RSA or ECDSA. */
export function encoded(numbers: Readonly<Record<string, Buffer>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(numbers).map(([name, value]) => [name, value.toString('base64url')]),
  )
}
