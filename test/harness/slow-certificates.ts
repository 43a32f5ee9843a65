import { generateKeyPairSync, generatePrimeSync, randomBytes } from 'node:crypto'
import { der, integer, oid, pem, sequence } from './der-writer.ts'
import type { Certificate } from './certificates.ts'

/** The largest modulus that OpenSSL takes for DSA; it does not ask whether that is a prime. */
const MODULUS_BYTES = 1_250
/** What a handshake of 12 KiB has room for. */
const SIGNATURES = 6

const DSA = oid('2a8648ce380401')
const DSA_WITH_SHA256 = sequence(oid('608648016503040302'))
const VALIDITY = sequence(...['200101000000Z', '400101000000Z'].map((time) => der(0x17, Buffer.from(time))))

/**
 * The certificate of a server, by an authority that nobody knows: OpenSSL takes 0.1 s and more of a processor for the
 * signatures of the chain, which are made up.
 */
export function makeSlowCertificate(): Certificate {
  const modulus = BigInt(`0x${randomBytes(MODULUS_BYTES).toString('hex')}`) | 1n | (1n << 9_999n)
  const order = generatePrimeSync(256, { bigint: true })
  const key = sequence(
    sequence(DSA, sequence(integer(modulus), integer(order), integer(2n))),
    bitString(integer(2n)),
  )
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const serverKey = publicKey.export({ type: 'spki', format: 'der' })
  const certificates = Array.from({ length: SIGNATURES + 1 }, (_, depth) =>
    sequence(
      signedPart(depth, depth === 0 ? serverKey : key),
      DSA_WITH_SHA256,
      bitString(sequence(integer(order - 2n), integer(order - 1n))),
    ),
  )
  return {
    certPEM: certificates.map((certificate) => pem('CERTIFICATE', certificate)).join(''),
    keyPEM: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** RFC 5280, 4.1. */
function signedPart(depth: number, key: Buffer): Buffer {
  return sequence(
    der(0xa0, integer(2n)),
    integer(BigInt(depth + 1)),
    DSA_WITH_SHA256,
    named(depth + 1),
    VALIDITY,
    named(depth),
    key,
    der(0xa3, sequence(depth === 0 ? forLocalhost() : forAuthority())),
  )
}

function named(depth: number): Buffer {
  return sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(`authority ${depth}`)))))
}

function forLocalhost(): Buffer {
  return sequence(oid('551d11'), der(0x04, sequence(der(0x82, Buffer.from('localhost')))))
}

function forAuthority(): Buffer {
  return sequence(
    oid('551d13'),
    der(0x01, Buffer.from([0xff])),
    der(0x04, sequence(der(0x01, Buffer.from([0xff])))),
  )
}

function bitString(content: Buffer): Buffer {
  return der(0x03, Buffer.from([0]), content)
}
