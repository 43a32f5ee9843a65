import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { Failure } from '../failure.ts'
import { openOpenSSH, writeEd25519 } from './openssh-key.ts'
import type { KeyPair } from './openssh-key.ts'

/** Where a private key was found, for messages. */
export interface KeyPlace {
  /** `<namespace>/<name>` of the Secret. */
  readonly secret: string
  /** Key of the Secret, as messages show it. */
  readonly key: string
}

/** Maximum size of a private key in bytes: RSA of 8192 bits has about 6,500. */
const MAX_BYTES = 16_384
/** Shorter keys are not secure (NIST SP 800-131A); signing with longer ones would block all other attempts. */
const RSA_BITS = { least: 2048, most: 8192 }
const CURVES = ['prime256v1', 'secp384r1', 'secp521r1']
const FORMS = 'an ed25519, ECDSA or RSA key in the format of OpenSSH, PEM or PKCS#8'
const MAKE = 'create one with `ssh-keygen -t ed25519 -N ""`, and add its public key at the host'

/**
 * Reads a private key as users store it in Secrets: OpenSSH, PEM (PKCS#1, SEC1) or PKCS#8, indented or not, with any
 * line ends. Returns it in one format for each type of key, which ssh2 can read, with a final newline.
 * @throws Failure CredentialsInvalid, one sentence without a byte of the value, for everything else
 */
export function readPrivateKey(value: Uint8Array, location: KeyPlace): string {
  if (value.length > MAX_BYTES)
    throw refuse(location, `holds more than ${MAX_BYTES} bytes, but has to hold ${FORMS}`)
  const text = plain(value)
  const block = findBlock(text)
  if (block === undefined) throw refuse(location, complaintOf(text))
  try {
    const pair = readBlock(block, location)
    requireKind(pair.privateKey, location)
    if (matches(pair)) return write(pair.privateKey)
  } catch (error) {
    // The message of a library may contain a part of the key.
    if (error instanceof Failure) throw error
  }
  throw refuse(location, BROKEN)
}

const ENCRYPTED =
  'holds a private key with a passphrase, which Commitlet cannot ask for; store it without one (`ssh-keygen -p -N "" -f FILE`)'
const BROKEN = 'holds a private key that is cut off or damaged; copy the whole file into it again'
const DSA = `holds a DSA key, which no Git host accepts any more; ${MAKE}`

// Block literals in YAML cause indentation, and files from Windows have other line ends.
function plain(value: Uint8Array): string {
  const lines = new TextDecoder().decode(value).split(/\r\n|\r|\n/)
  return lines.map((line) => line.trim()).join('\n')
}

interface Block {
  readonly label: string
  readonly body: string
}

function findBlock(text: string): Block | undefined {
  const [, label, body] =
    /^-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----\n([^]*?)^-----END \1-----$/m.exec(text) ?? []
  return label === undefined || body === undefined ? undefined : { label, body }
}

function complaintOf(text: string): string {
  if (text.trim() === '') return `is empty, but has to hold ${FORMS}`
  if (text.startsWith('PuTTY-User-Key-File-'))
    return 'holds a key in the format of PuTTY; convert it with `puttygen FILE -O private-openssh -o NEW`'
  if (/^(ssh|ecdsa|sk)-[a-z0-9@.-]+-cert-v01@openssh\.com /m.test(text))
    return 'holds an SSH certificate, but has to hold the private key; certificates are not supported'
  if (
    /^((ssh|ecdsa|sk)-[a-z0-9@.-]+ AAAA|-----BEGIN ([A-Z0-9]+ )?PUBLIC KEY|---- BEGIN SSH2 PUBLIC)/m.test(
      text,
    )
  )
    return 'holds a public key, but has to hold the private one (the file without .pub)'
  if (/^-----BEGIN ([A-Z0-9 ]*)PRIVATE KEY-----/m.test(text)) return BROKEN
  if (Buffer.from(text, 'base64').includes('-----BEGIN '))
    return 'is encoded in base64 twice; put the text of the file into stringData, or encode it only once'
  return `does not hold a private key, but has to hold ${FORMS}`
}

function readBlock({ label, body }: Block, location: KeyPlace): KeyPair {
  if (label === 'ENCRYPTED PRIVATE KEY' || /^Proc-Type: *4, *ENCRYPTED/m.test(body))
    throw refuse(location, ENCRYPTED)
  if (label === 'DSA PRIVATE KEY') throw refuse(location, DSA)
  if (label === 'OPENSSH PRIVATE KEY') return readOpenSSH(body, location)
  const privateKey = createPrivateKey(`-----BEGIN ${label}-----\n${body}-----END ${label}-----\n`)
  return { privateKey, publicKey: createPublicKey(privateKey) }
}

function readOpenSSH(body: string, location: KeyPlace): KeyPair {
  const file = openOpenSSH(Buffer.from(body, 'base64'))
  if (file.type.startsWith('sk-'))
    throw refuse(
      location,
      `holds a key that needs a hardware security key, which a person has to touch; ${MAKE}`,
    )
  if (file.type === 'ssh-dss') throw refuse(location, DSA)
  if (file.cipher !== 'none') throw refuse(location, ENCRYPTED)
  return file.read()
}

function requireKind(key: KeyObject, location: KeyPlace): void {
  if (key.asymmetricKeyType === 'rsa') {
    requireBits(key.asymmetricKeyDetails?.modulusLength ?? 0, location)
    return
  }
  const { namedCurve = '' } = key.asymmetricKeyDetails ?? {}
  if (key.asymmetricKeyType === 'ed25519') return
  if (key.asymmetricKeyType === 'ec' && CURVES.includes(namedCurve)) return
  if (key.asymmetricKeyType === 'dsa') throw refuse(location, DSA)
  throw refuse(location, `holds a key of a type that SSH does not support; ${MAKE}`)
}

function requireBits(bits: number, location: KeyPlace): void {
  const { least, most } = RSA_BITS
  if (bits >= least && bits <= most) return
  throw refuse(
    location,
    `holds an RSA key of ${bits} bits, but has to hold one of ${least} to ${most}; ${MAKE}`,
  )
}

function matches({ privateKey, publicKey }: KeyPair): boolean {
  const data = Buffer.from('Commitlet')
  const hash = privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  return verify(hash, data, publicKey, sign(hash, data, privateKey))
}

function write(key: KeyObject): string {
  if (key.asymmetricKeyType === 'rsa') return String(key.export({ type: 'pkcs1', format: 'pem' }))
  if (key.asymmetricKeyType === 'ec') return String(key.export({ type: 'sec1', format: 'pem' }))
  const { d = '', x = '' } = key.export({ format: 'jwk' })
  return writeEd25519(Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url'))
}

function refuse({ secret, key }: KeyPlace, complaint: string): Failure {
  return new Failure('CredentialsInvalid', `The key ${key} of the Secret ${secret} ${complaint}.`)
}
