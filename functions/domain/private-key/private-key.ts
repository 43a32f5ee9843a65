import { Failure } from '../failure.ts'
import { readPKCS1, readPKCS8, readSEC1 } from './der-key.ts'
import { BROKEN, DSA, ENCRYPTED, FORMS, UNSUPPORTED } from './found-key.ts'
import type { FoundKey } from './found-key.ts'
import { complaintOf, findBlock, plainText } from './key-block.ts'
import type { KeyBlock } from './key-block.ts'
import { readOpenSSH } from './openssh-key.ts'

/** Where a private key was found, for messages. */
export interface KeyPlace {
  /** `<namespace>/<name>` of the Secret. */
  readonly secret: string
  /** Key of the Secret, as messages show it. */
  readonly key: string
}

/** Maximum size of a private key in bytes: RSA of 8192 bits has about 6,500. */
const MAX_BYTES = 16_384

/** How the bytes of each kind of block are read. */
const READERS: Readonly<Record<string, (bytes: Buffer) => FoundKey>> = {
  'OPENSSH PRIVATE KEY': readOpenSSH,
  'RSA PRIVATE KEY': readPKCS1,
  'EC PRIVATE KEY': readSEC1,
  'PRIVATE KEY': readPKCS8,
  'ENCRYPTED PRIVATE KEY': () => ({ complaint: ENCRYPTED }),
  'DSA PRIVATE KEY': () => ({ complaint: DSA }),
}

/**
 * Reads a private key as users store it in Secrets: OpenSSH, PEM (PKCS#1, SEC1) or PKCS#8, indented or not, with any
 * line ends. Returns it in one format for each type of key, which ssh2 can read, with a final newline. The kind of the
 * key and the size of every integer are read before OpenSSL gets any of it, because OpenSSL takes minutes for some keys.
 * @throws Failure CredentialsInvalid, one sentence without a byte of the value, for everything else; within 5 ms
 */
export function readPrivateKey(value: Uint8Array, location: KeyPlace): string {
  const key = findKey(value)
  if ('complaint' in key) throw refuse(location, key.complaint)
  return key.pem
}

/** The same with the key for node:crypto; what is wrong with it is returned. Within 5 ms. */
export function findKey(value: Uint8Array): FoundKey {
  if (value.length > MAX_BYTES)
    return { complaint: `holds more than ${MAX_BYTES} bytes, but has to hold ${FORMS}` }
  const text = plainText(value)
  const block = findBlock(text)
  return block === undefined ? { complaint: complaintOf(text) } : readBlock(block)
}

function readBlock({ label, body }: KeyBlock): FoundKey {
  if (/^Proc-Type: *4, *ENCRYPTED/m.test(body)) return { complaint: ENCRYPTED }
  const read = READERS[label]
  if (read === undefined) return { complaint: UNSUPPORTED }
  const base64 = body.replaceAll('\n', '')
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return { complaint: BROKEN }
  try {
    return read(Buffer.from(base64, 'base64'))
  } catch {
    // The message of a library may contain a part of the key.
    return { complaint: BROKEN }
  }
}

function refuse({ secret, key }: KeyPlace, complaint: string): Failure {
  return new Failure('CredentialsInvalid', `The key ${key} of the Secret ${secret} ${complaint}.`)
}
