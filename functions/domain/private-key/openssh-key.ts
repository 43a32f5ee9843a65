import { readWire } from '../network/ssh-wire.ts'
import type { WireReader } from '../network/ssh-wire.ts'
import { curveOf, ecdsaKey } from './ecdsa-key.ts'
import type { Curve } from './ecdsa-key.ts'
import { ed25519Key, MAGIC } from './ed25519-key.ts'
import { DSA, ENCRYPTED, SECURITY_KEY, UNSUPPORTED } from './found-key.ts'
import type { FoundKey } from './found-key.ts'
import { rsaKey } from './rsa-key.ts'

/** Reads the decoded body of an `OPENSSH PRIVATE KEY` (OpenSSH's PROTOCOL.key). Throws if it is broken. */
export function readOpenSSH(bytes: Buffer): FoundKey {
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) throw broken('its first bytes')
  const file = readWire(bytes.subarray(MAGIC.length))
  const [cipher] = [file.text(), file.string(), file.string()]
  if (file.number() !== 1) throw broken('the number of keys')
  const type = readWire(file.string()).text()
  if (type.startsWith('sk-')) return { complaint: SECURITY_KEY }
  if (type === 'ssh-dss') return { complaint: DSA }
  if (cipher !== 'none') return { complaint: ENCRYPTED }
  const read = readerOf(type)
  if (read === undefined) return { complaint: UNSUPPORTED }
  const body = file.string()
  if (file.left() > 0) throw broken('its end')
  const from = readWire(body)
  if (from.number() !== from.number()) throw broken('the check of the private half')
  if (from.text() !== type) throw broken('the type')
  const key = read(from)
  const comment = from.string().toString('utf8')
  requirePadding(body.subarray(body.length - from.left()))
  return 'complaint' in key ? key : { ...key, comment }
}

function readerOf(type: string): ((from: WireReader) => FoundKey) | undefined {
  if (type === 'ssh-ed25519') return readEd25519
  if (type === 'ssh-rsa') return readRSA
  const curve = curveOf('ssh', type)
  return curve && ((from) => readECDSA(curve, from))
}

function readEd25519(from: WireReader): FoundKey {
  const [publicHalf, both] = [from.string(), from.string()]
  const seed = both.subarray(0, 32)
  if (!both.subarray(32).equals(publicHalf)) throw broken('the public half')
  return ed25519Key({ seed, publicHalf })
}

function readECDSA(curve: Curve, from: WireReader): FoundKey {
  if (`ecdsa-sha2-${from.text()}` !== curve.ssh) throw broken('the curve')
  const point = from.string()
  return ecdsaKey(curve, { point, secret: unsigned(from) })
}

function readRSA(from: WireReader): FoundKey {
  const [n, e, d] = [unsigned(from), unsigned(from), unsigned(from)]
  const [qi, p, q] = [unsigned(from), unsigned(from), unsigned(from)]
  return rsaKey({ n, e, d, p, q, qi })
}

// An mpint (RFC 4251, section 5) begins with a zero byte if the first bit of the number is set.
function unsigned(from: WireReader): Buffer {
  const bytes = from.string()
  const [first = 0] = bytes
  if (first >= 0x80) throw broken('a negative number')
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return bytes.subarray(zeros === -1 ? bytes.length : zeros)
}

function requirePadding(bytes: Buffer): void {
  if (bytes.some((byte, i) => byte !== ((i + 1) & 0xff))) throw broken('its padding')
}

function broken(what: string): Error {
  return new Error(`Not a valid OpenSSH key: ${what}.`)
}
