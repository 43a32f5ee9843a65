import { inflateExactly, type StreamOf } from './zlib.ts'
import { ID_BYTES, type ObjectId, type ObjectKind } from './object.ts'
import type { Pace } from './pace.ts'
import { HEADER_BYTES, kindOfType, OFS_DELTA, REF_DELTA } from './pack-format.ts'
import { brokenPack, type Budget } from './pack-options.ts'

/** What a pack holds at an offset, inflated. */
export type PackEntry = WholeEntry | DeltaEntry

/** An object. */
export interface WholeEntry {
  readonly at: number
  readonly kind: ObjectKind
  readonly body: Buffer
}

/** An object as its difference to the one at an offset in the pack, or with an id. */
export interface DeltaEntry {
  readonly at: number
  readonly kind: 'delta'
  readonly base: number | ObjectId
  readonly body: Buffer
}

/** For whom entries are read, and what they may take. */
interface EntriesTerms extends StreamOf {
  readonly budget: Budget
  readonly pace: Pace
}

/** Bits of a size that fit a number exactly. */
const MOST_SHIFT = 46

/**
 * Reads `count` entries, which fill the pack from its header to the end of `bytes` (the trailer is cut off).
 * @throws Failure ProviderUnavailable for anything that is not exactly so; what `budget` throws for a size; the
 *   signal's reason once it has fired
 */
export async function readEntriesOf(
  bytes: Buffer,
  count: number,
  { budget, pace, ...by }: EntriesTerms,
): Promise<readonly PackEntry[]> {
  const entries: PackEntry[] = []
  let at = HEADER_BYTES
  while (entries.length < count) {
    const header = readHeader(bytes, at)
    budget(header.size)
    const { body, length } = await inflateExactly(bytes.subarray(header.next), header.size, by)
    entries.push(entryOf(header, at, body))
    at = header.next + length
    await pace(length + body.length)
  }
  if (at !== bytes.length) throw brokenPack('it has more bytes than objects')
  return entries
}

interface EntryHeader {
  readonly kind: ObjectKind | 'delta'
  readonly base?: number | ObjectId
  readonly size: number
  /** Where the zlib stream begins. */
  readonly next: number
}

function entryOf({ kind, base = '' }: EntryHeader, at: number, body: Buffer): PackEntry {
  return kind === 'delta' ? { at, kind, base, body } : { at, kind, body }
}

function readHeader(bytes: Buffer, at: number): EntryHeader {
  const first = byteAt(bytes, at)
  const type = (first >> 4) & 7
  const { size, next } = readSize(bytes, at)
  const kind = kindOfType(type)
  if (kind !== undefined) return { kind, size, next }
  if (type === REF_DELTA) {
    byteAt(bytes, next + ID_BYTES - 1)
    return { kind: 'delta', base: bytes.toString('hex', next, next + ID_BYTES), size, next: next + ID_BYTES }
  }
  if (type !== OFS_DELTA) throw brokenPack('it has an object of a type that Git does not know')
  const back = readOffset(bytes, next)
  return { kind: 'delta', base: at - back.offset, size, next: back.next }
}

// Four bits, then little-endian groups of seven; the last byte is without the high bit.
function readSize(bytes: Buffer, start: number): { size: number; next: number } {
  let byte = byteAt(bytes, start)
  let size = byte & 0x0f
  let next = start + 1
  for (let shift = 4; (byte & 0x80) !== 0; shift += 7) {
    if (shift > MOST_SHIFT) throw brokenPack('an object has a size that is not possible')
    byte = byteAt(bytes, next++)
    size += (byte & 0x7f) * 2 ** shift
  }
  return { size, next }
}

// Big-endian groups of seven bits; each that follows counts one more, so that no offset has two forms.
function readOffset(bytes: Buffer, start: number): { offset: number; next: number } {
  let byte = byteAt(bytes, start)
  let offset = byte & 0x7f
  let next = start + 1
  while ((byte & 0x80) !== 0) {
    byte = byteAt(bytes, next++)
    offset = (offset + 1) * 128 + (byte & 0x7f)
  }
  return { offset, next }
}

function byteAt(bytes: Buffer, at: number): number {
  const byte = bytes[at]
  if (byte === undefined) throw brokenPack('it ends within an object')
  return byte
}
