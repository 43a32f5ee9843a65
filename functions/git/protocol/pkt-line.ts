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

/** Most packets of an answer: each costs a microsecond, however short it is. A pack of 16 MiB takes some 2,000. */
const MOST_PACKETS = 65_536
/** Short packets, such as the lines of a hook, are normal in this number; more have to average this length. */
const SHORT_PACKETS = 8_192
const LEAST_AVERAGE_BYTES = 32

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
  let packets = 0
  for (let at = 0; at < answer.length;) {
    const length = lengthAt(answer, at)
    if (length === undefined && answer.length - at < LENGTH_DIGITS)
      throw protocolError('TRUNCATED', 'an answer ends within a length')
    if (length === undefined) throw protocolError('UNEXPECTED', 'a packet has no valid length')
    const end = at + Math.max(length, LENGTH_DIGITS)
    if (end > answer.length) throw protocolError('TRUNCATED', 'an answer ends within a packet')
    packets += 1
    if (packets > mostPackets(end)) throw protocolError('TOO_MANY', 'an answer in too many short packets')
    yield SPECIAL[length] ?? answer.subarray(at + LENGTH_DIGITS, end)
    at = end
  }
}

/** How far an answer that is still coming in was searched. */
export interface Searched {
  readonly at: number
  readonly packets: number
}

/**
 * Where the first flush packet ends; else how far the search got, to go on from there when there are more bytes. What
 * readPackets refuses ends the answer as well.
 */
export function findFlush(bytes: Buffer, from: Searched): { readonly end: number } | Searched {
  let { at, packets } = from
  while (at + LENGTH_DIGITS <= bytes.length) {
    const length = lengthAt(bytes, at)
    if (length === 0) return { end: at + LENGTH_DIGITS }
    at += Math.max(length ?? 0, LENGTH_DIGITS)
    packets += 1
    if (length === undefined || (at <= bytes.length && packets > mostPackets(at)))
      return { end: bytes.length }
  }
  return { at, packets }
}

/**
 * The text of a packet, without the line end that may be there.
 * @throws ProtocolError REMOTE if the server reports an error in it
 */
export function textOf(content: Buffer): string {
  refuseError(content)
  return trimmed(content)
}

/** @throws ProtocolError REMOTE if the server reports an error in the packet; it costs no string otherwise */
export function refuseError(content: Buffer): void {
  if (beginsWith(content, ERROR)) throw protocolError('REMOTE', trimmed(content).slice(ERROR.length))
}

const ERROR = Buffer.from('ERR ')

/** Whether these are the first bytes of the packet. */
export function beginsWith(content: Buffer, start: Buffer): boolean {
  return content.length >= start.length && start.compare(content, 0, start.length) === 0
}

function trimmed(content: Buffer): string {
  return content.toString().replace(/\n$/, '')
}

function mostPackets(bytes: number): number {
  return Math.min(MOST_PACKETS, SHORT_PACKETS + bytes / LEAST_AVERAGE_BYTES)
}

/** The length that stands there, in four hexadecimal digits; undefined if none does. */
export function lengthAt(answer: Buffer, at: number): number | undefined {
  let length = 0
  for (let i = at; i < at + LENGTH_DIGITS; i += 1) {
    const digit = digitOf(answer[i] ?? 0)
    if (digit === undefined) return undefined
    length = length * 16 + digit
  }
  return length === 3 || length > LARGEST ? undefined : length
}

/** The value of a hexadecimal digit. An answer has too many of them for a string each. */
function digitOf(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined
}
