import { writeNumber } from './octets.ts'

/** The words of the BEGIN line of a private key, and of a signature (RFC 9580, section 6.2.1). */
export const PRIVATE_KEY = 'PGP PRIVATE KEY BLOCK'
export const SIGNATURE = 'PGP SIGNATURE'

/** Characters of a line. */
const LINE = /.{64}(?=.)/g
/** RFC 9580, section 6.1.1. */
const CHECKSUM = { start: 0xb704ce, polynomial: 0x1864cfb }

/**
 * The octets of the first armored block with this label; undefined: there is none, or no end of it. The lines are trimmed.
 * Headers and the checksum are not used, as RFC 9580, section 6.1, demands of the checksum.
 * @throws RangeError if its text is not base64
 */
export function readArmor(label: string, lines: readonly string[]): Buffer | undefined {
  const begin = lines.indexOf(`-----BEGIN ${label}-----`)
  const end = lines.indexOf(`-----END ${label}-----`, begin + 1)
  if (begin === -1 || end === -1) return undefined
  const body = lines
    .slice(begin + 1, end)
    .filter((line) => !line.includes(':') && !/^=[A-Za-z0-9+/]{4}$/.test(line))
  const base64 = body.join('')
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) throw new RangeError('An armor that is not base64.')
  return Buffer.from(base64, 'base64')
}

/** These octets in armor with this label, with a line feed after each line. */
export function writeArmor(label: string, octets: Buffer): string {
  const lines = octets.toString('base64').replace(LINE, '$&\n')
  const checksum = writeNumber(checksumOf(octets), 3).toString('base64')
  return `-----BEGIN ${label}-----\n\n${lines}\n=${checksum}\n-----END ${label}-----\n`
}

function checksumOf(octets: Buffer): number {
  let sum = CHECKSUM.start
  for (const octet of octets) {
    sum ^= octet << 16
    for (let bit = 0; bit < 8; bit += 1) {
      sum <<= 1
      if ((sum & 0x1000000) !== 0) sum ^= CHECKSUM.polynomial
    }
  }
  return sum
}
