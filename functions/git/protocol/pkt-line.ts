import { protocolError } from './protocol-error.ts'

/** The special packets of gitprotocol-v2(5), and the content of any other packet. */
export type Packet = Buffer | 'flush' | 'delimiter' | 'response end'

/** Ends a request or an answer. */
export const FLUSH = Buffer.from('0000')
/** Stands between the parts of a request. */
export const DELIMITER = Buffer.from('0001')

/** Maximum bytes of a packet, its length included (gitprotocol-common(5), pkt-line). */
const LARGEST = 65_520
const LENGTH_DIGITS = 4
const SPECIAL: Readonly<Record<number, Packet>> = { 0: 'flush', 1: 'delimiter', 2: 'response end' }

/** One packet: four hexadecimal digits with the length of all, then the content. */
export function packet(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content)
  const length = bytes.length + LENGTH_DIGITS
  return Buffer.concat([Buffer.from(length.toString(16).padStart(LENGTH_DIGITS, '0')), bytes])
}

/**
 * The packets of a whole answer, in order; their content is not copied.
 * @throws ProtocolError
 */
export function* readPackets(answer: Buffer): Generator<Packet, void> {
  for (let at = 0; at < answer.length;) {
    const length = lengthAt(answer, at)
    const special = SPECIAL[length]
    const end = at + (special === undefined ? length : LENGTH_DIGITS)
    if (end > answer.length) throw protocolError('TRUNCATED', 'an answer ends within a packet')
    yield special ?? answer.subarray(at + LENGTH_DIGITS, end)
    at = end
  }
}

/**
 * The text of a packet, without the line end that may be there.
 * @throws ProtocolError REMOTE if the server reports an error in it
 */
export function textOf(content: Buffer): string {
  const text = content.toString().replace(/\n$/, '')
  if (text.startsWith('ERR ')) throw protocolError('REMOTE', text.slice(4))
  return text
}

function lengthAt(answer: Buffer, at: number): number {
  const digits = answer.toString('latin1', at, at + LENGTH_DIGITS)
  if (digits.length < LENGTH_DIGITS) throw protocolError('TRUNCATED', 'an answer ends within a length')
  const length = /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN
  if (length === 3 || !(length <= LARGEST)) throw protocolError('UNEXPECTED', 'a packet has no valid length')
  return length
}
