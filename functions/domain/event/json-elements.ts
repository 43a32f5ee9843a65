import { Failure } from '../failure.ts'
import { parseCounted, parseJSON } from './bounded-json.ts'

/** Gives the event loop a turn. */
export type Rest = () => Promise<void>

/** A list in JSON. */
export interface JSONList {
  /** The text without the elements, parsed: the list itself, empty, or the object that has it. */
  readonly around: unknown
  /** The elements, parsed one by one; undefined stands for one that is too large. */
  readonly elements: AsyncIterable<unknown>
}

/** Bytes that are scanned, or parsed, between two turns of the event loop: some 2 ms. */
const BYTES_PER_TURN = 512 * 1024
/** What an element, and each value in it, takes besides its bytes. */
const LEAST_BYTES = 4_096
const PART_BYTES = 50
/** An API server sends 400 events at once by default. */
const MOST_ELEMENTS = 10_000
/** Twice what etcd stores of an object, as a request and its answer have it. */
const LARGEST_ELEMENT = 4 * 1024 * 1024
/** The values of all elements together; parsing them takes 0.3 s, in turns. */
const MOST_PARTS = 500_000
const LARGEST_AROUND = 64 * 1024

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]
/** For each byte, whether a scan stops at it, and whether it is white space (RFC 8259, section 2). */
const SIGNS = tableOf([QUOTE, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT])
const BLANKS = tableOf([0x20, 0x09, 0x0a, 0x0d])

type Span = readonly [start: number, end: number]

/**
 * Reads a list from bytes of any size without holding the event loop: JSON.parse would hold it for the whole text. `key`
 * names the member of the outermost object that is the list; without it, the text itself is the list. Throws
 * InvalidSpec, here or while the elements are read, for what is not JSON, and for more than 10,000 elements or 500,000
 * values.
 */
export async function readList(bytes: Uint8Array, key: string | undefined, rest: Rest): Promise<JSONList> {
  const scan = makeScan(bytes, key)
  while (scan.read(BYTES_PER_TURN)) await rest()
  const { around, spans } = scan.found()
  return { around: parseJSON(around, WHAT), elements: parseEach(bytes, spans, rest) }
}

const WHAT = 'The list of events'

async function* parseEach(bytes: Uint8Array, spans: readonly Span[], rest: Rest): AsyncGenerator {
  let left = MOST_PARTS
  let done = 0
  for (const [start, end] of spans) {
    const counted = end - start > LARGEST_ELEMENT ? undefined : parseCounted(bytes.subarray(start, end), WHAT)
    left -= counted?.parts ?? 0
    if (left < 0) throw new Failure('InvalidSpec', `${WHAT} has more than 500,000 values.`)
    yield counted?.value
    done += LEAST_BYTES + end - start + PART_BYTES * (counted?.parts ?? 0)
    if (done < BYTES_PER_TURN) continue
    done = 0
    await rest()
  }
}

/** A search for the elements of a list; see `makeScan`. */
export interface Scan {
  /** Reads so many bytes more; false at the end. */
  readonly read: (bytes: number) => boolean
  readonly found: () => { readonly around: Uint8Array; readonly spans: readonly Span[] }
}

/** Finds the elements by brackets, strings and commas. Whether these fit together is left to the parser of each piece. */
export function makeScan(bytes: Uint8Array, key: string | undefined): Scan {
  const spans: Span[] = []
  const around: Uint8Array[] = []
  let aroundSize = 0
  let at = 0
  let depth = 0
  let stringStart = 0
  let stringEnd = 0
  let keptFrom = 0
  let list: { readonly depth: number; start: number; isEmpty: boolean } | undefined

  function step(): void {
    const sign = bytes[at]
    if (sign === QUOTE) skipString()
    else if (sign === OPEN_LIST || sign === OPEN_OBJECT) open(sign)
    else if (sign === CLOSE_LIST || sign === CLOSE_OBJECT) close()
    else if (list?.depth === depth) endElement(list)
  }

  function skipString(): void {
    stringStart = at + 1
    let end = stringStart
    while (end < bytes.length && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1
    stringEnd = end
    at = end
  }

  function open(sign: number): void {
    const isList =
      sign === OPEN_LIST && list === undefined && (key === undefined ? depth === 0 : isKeyed(key))
    depth += 1
    if (!isList) return
    keep(at + 1)
    list = { depth, start: at + 1, isEmpty: true }
  }

  /** Whether what begins here is the member of the outermost object with this key. */
  function isKeyed(name: string): boolean {
    if (depth !== 1) return false
    let before = at - 1
    while (BLANKS[bytes[before] ?? 0] === 1) before -= 1
    if (bytes[before] !== COLON) return false
    const isAsLong = stringEnd - stringStart === name.length
    return isAsLong && Buffer.from(bytes.subarray(stringStart, stringEnd)).toString() === name
  }

  function close(): void {
    if (list?.depth === depth) {
      if (!list.isEmpty || !isBlank(list.start)) endElement(list)
      keptFrom = at
      list = undefined
    }
    depth -= 1
  }

  /** Whether there is nothing between this position and the present one. */
  function isBlank(from: number): boolean {
    let next = from
    while (next < at && BLANKS[bytes[next] ?? 0] === 1) next += 1
    return next === at
  }

  function endElement(of: NonNullable<typeof list>): void {
    if (spans.length >= MOST_ELEMENTS)
      throw new Failure('InvalidSpec', `${WHAT} has more than 10,000 elements.`)
    spans.push([of.start, at])
    of.start = at + 1
    of.isEmpty = false
  }

  function keep(end: number): void {
    aroundSize += end - keptFrom
    if (aroundSize > LARGEST_AROUND)
      throw new Failure('InvalidSpec', 'This is not a CloudEvent, and not a list of events.')
    around.push(bytes.subarray(keptFrom, end))
  }

  return {
    read(count) {
      const end = Math.min(bytes.length, at + count)
      for (; at < end; at += 1) if (SIGNS[bytes[at] ?? 0] === 1) step()
      return at < bytes.length
    },
    found() {
      // A list that does not end leaves an open bracket in the text around it.
      keep(list === undefined ? bytes.length : keptFrom)
      return { around: Buffer.concat(around), spans }
    },
  }
}

function tableOf(bytes: readonly number[]): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => Number(bytes.includes(byte)))
}
