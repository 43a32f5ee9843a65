import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { Failure } from '../failure.ts'
import { openOpenSSH, writeEd25519 } from './openssh-key.ts'
import type { KeyPair } from './openssh-key.ts'

/** Where a private key was found, for the sentence. */
export interface KeyPlace {
  /** `<namespace>/<name>` of the Secret. */
  readonly secret: string
  /** Key of the Secret, as a sentence calls it. */
  readonly key: string
}

/** Most bytes of a private key: RSA of 8192 bits has about 6,500. */
const LONGEST = 16_384
/** Fewer are broken in practice (NIST SP 800-131A); more would hold everybody else up while one signs. */
const RSA_BITS = { least: 2048, most: 8192 }
const CURVES = ['prime256v1', 'secp384r1', 'secp521r1']
const FORMS = 'an ed25519, ECDSA or RSA key in the form of OpenSSH, PEM or PKCS#8'
const MAKE = 'make one with `ssh-keygen -t ed25519 -N ""`, and give its public half to the host'

/**
 * Reads a private key as people put it into Secrets: OpenSSH, PEM (PKCS#1, SEC1) or PKCS#8, indented or not, with
 * any line ends. Answers it in one form per kind of key, all of which ssh2 takes, with a final newline.
 * @throws Failure CredentialsInvalid, one sentence without a byte of the value, for everything else
 */
export function readPrivateKey(value: Uint8Array, place: KeyPlace): string {
  if (value.length > LONGEST)
    throw refuse(place, `holds more than ${LONGEST} bytes, but has to hold ${FORMS}`)
  const text = plain(value)
  const block = findBlock(text)
  if (block === undefined) throw refuse(place, complaintOf(text))
  try {
    const pair = readBlock(block, place)
    requireKind(pair.privateKey, place)
    if (belongTogether(pair)) return write(pair.privateKey)
  } catch (error) {
    // What a library says of a key may show some of it.
    if (error instanceof Failure) throw error
  }
  throw refuse(place, BROKEN)
}

const ENCRYPTED =
  'holds a private key with a passphrase, which Commitlet cannot ask for; store it without one (`ssh-keygen -p -N "" -f FILE`)'
const BROKEN = 'holds a private key that is cut off or damaged; copy the whole file into it again'
const DSA = `holds a DSA key, which no Git host takes any more; ${MAKE}`

// Indentation comes from block literals in YAML, and a file of Windows has other line ends.
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
    return 'holds a key in the form of PuTTY; convert it with `puttygen FILE -O private-openssh -o NEW`'
  if (/^(ssh|ecdsa|sk)-[a-z0-9@.-]+-cert-v01@openssh\.com /m.test(text))
    return 'holds an SSH certificate, but has to hold the private key; certificates are not supported'
  if (
    /^((ssh|ecdsa|sk)-[a-z0-9@.-]+ AAAA|-----BEGIN ([A-Z0-9]+ )?PUBLIC KEY|---- BEGIN SSH2 PUBLIC)/m.test(
      text,
    )
  )
    return 'holds the public half of a key, but has to hold the private one (the file without .pub)'
  if (/^-----BEGIN ([A-Z0-9 ]*)PRIVATE KEY-----/m.test(text)) return BROKEN
  if (Buffer.from(text, 'base64').includes('-----BEGIN '))
    return 'is base64 twice over; put the text of the file into stringData, or encode it once only'
  return `does not hold a private key, but has to hold ${FORMS}`
}

function readBlock({ label, body }: Block, place: KeyPlace): KeyPair {
  if (label === 'ENCRYPTED PRIVATE KEY' || /^Proc-Type: *4, *ENCRYPTED/m.test(body))
    throw refuse(place, ENCRYPTED)
  if (label === 'DSA PRIVATE KEY') throw refuse(place, DSA)
  if (label === 'OPENSSH PRIVATE KEY') return readOpenSSH(body, place)
  const privateKey = createPrivateKey(`-----BEGIN ${label}-----\n${body}-----END ${label}-----\n`)
  return { privateKey, publicKey: createPublicKey(privateKey) }
}

function readOpenSSH(body: string, place: KeyPlace): KeyPair {
  const file = openOpenSSH(Buffer.from(body, 'base64'))
  if (file.type.startsWith('sk-'))
    throw refuse(place, `holds a key that lives on a security key, which a person has to touch; ${MAKE}`)
  if (file.type === 'ssh-dss') throw refuse(place, DSA)
  if (file.cipher !== 'none') throw refuse(place, ENCRYPTED)
  return file.read()
}

function requireKind(key: KeyObject, place: KeyPlace): void {
  if (key.asymmetricKeyType === 'rsa') {
    requireBits(key.asymmetricKeyDetails?.modulusLength ?? 0, place)
    return
  }
  const { namedCurve = '' } = key.asymmetricKeyDetails ?? {}
  if (key.asymmetricKeyType === 'ed25519') return
  if (key.asymmetricKeyType === 'ec' && CURVES.includes(namedCurve)) return
  if (key.asymmetricKeyType === 'dsa') throw refuse(place, DSA)
  throw refuse(place, `holds a key of a kind that SSH does not know; ${MAKE}`)
}

function requireBits(bits: number, place: KeyPlace): void {
  const { least, most } = RSA_BITS
  if (bits >= least && bits <= most) return
  throw refuse(place, `holds an RSA key of ${bits} bits, but has to hold one of ${least} to ${most}; ${MAKE}`)
}

function belongTogether({ privateKey, publicKey }: KeyPair): boolean {
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
