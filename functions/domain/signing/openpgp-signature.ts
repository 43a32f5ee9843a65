import { createHash } from 'node:crypto'
import { SIGNATURE, writeArmor } from '../openpgp/armor.ts'
import type { OpenPGPKey } from '../openpgp/find-key.ts'
import { ALGORITHM } from '../openpgp/key-packet.ts'
import { writeInteger, writeNumber } from '../openpgp/octets.ts'
import { PACKET } from '../openpgp/packets.ts'
import { rawSignature } from './raw-signature.ts'

/** RFC 9580, sections 5.2 and 9.5: a signature of version 4 over binary data, with SHA-512. */
const VERSION = 4
const BINARY = 0x00
const SHA512 = 10
/** RFC 9580, section 5.2.3.7. */
const SUBPACKET = { made: 2, issuer: 16, fingerprint: 33 }

/**
 * The armored signature of these bytes, made at this time, in seconds since 1970, with a line feed at its end.
 * @throws Error if the key makes none that is right, such as one of RSA whose factors are no primes
 */
export async function openPGPSignature(key: OpenPGPKey, message: Buffer, made: number): Promise<string> {
  const { algorithm, fingerprint } = key
  const hashed = [
    subpacket(SUBPACKET.fingerprint, Buffer.concat([Buffer.from([VERSION]), fingerprint])),
    subpacket(SUBPACKET.made, writeNumber(made, 4)),
  ]
  const head = Buffer.concat([Buffer.from([VERSION, BINARY, algorithm, SHA512]), withLength(hashed)])
  // RFC 9580, section 5.2.4.
  const trailer = Buffer.concat([Buffer.from([VERSION, 0xff]), writeNumber(head.length, 4)])
  const signed = Buffer.concat([message, head, trailer])
  const digest = createHash('sha512').update(signed).digest()
  const issuer = subpacket(SUBPACKET.issuer, fingerprint.subarray(-8))
  const body = [head, withLength([issuer]), digest.subarray(0, 2), await valuesOf(key, { signed, digest })]
  return writeArmor(SIGNATURE, packet(PACKET.signature, Buffer.concat(body)))
}

/** RFC 9580, sections 5.2.3.1 to 5.2.3.4. */
async function valuesOf(
  { algorithm, key }: OpenPGPKey,
  { signed, digest }: { readonly signed: Buffer; readonly digest: Buffer },
): Promise<Buffer> {
  const isEdwards = key.asymmetricKeyType === 'ed25519'
  // ed25519 signs the digest as data of its own.
  const raw = isEdwards
    ? await rawSignature(digest, { privateKey: key, digest: null })
    : await rawSignature(signed, { privateKey: key, digest: 'sha512' })
  if (algorithm === ALGORITHM.ed25519) return raw
  if (key.asymmetricKeyType === 'rsa') return writeInteger(raw)
  const half = raw.length / 2
  return Buffer.concat([raw.subarray(0, half), raw.subarray(half)].map(writeInteger))
}

function withLength(subpackets: readonly Buffer[]): Buffer {
  const area = Buffer.concat(subpackets)
  return Buffer.concat([writeNumber(area.length, 2), area])
}

/** All of them are short. */
function subpacket(type: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([value.length + 1, type]), value])
}

/** RFC 9580, section 4.2.1, with a length of five octets, which holds any. */
function packet(type: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0xc0 | type, 0xff]), writeNumber(body.length, 4), body])
}
