import { Failure } from '../failure.ts'
import { parsedJSON } from '../json-value.ts'
import { isMapping, isSequence, type Mapping, type JSONNode, type Sequence, type Write } from './json-node.ts'

/** Maximum nesting of arrays and objects; that of kubectl and Go's JSON is 10,000. */
export const DEPTH_LIMIT = 1_000

/**
 * Maximum number of values, nested ones included: more would block the event loop, at about 1 µs each, and take up to
 * 100 bytes each. An object that fills the 1.5 MiB that etcd accepts by default has fewer values, unless they take less
 * than 16 bytes each, their names included.
 */
export const VALUES_LIMIT = 100_000

// RFC 8259, section 6
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y
const CONTROL = /[\0-\x1f]/
const BACKSLASH = 0x5c
const SPACE: ReadonlySet<number> = new Set([0x20, 0x0a, 0x0d, 0x09])
const LITERALS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const

interface Cursor {
  readonly text: string
  readonly subject: string
  at: number
  values: number
}

/**
 * Parses JSON (RFC 8259) and keeps what JSON.parse loses: the order of keys and the digits of numbers. Of equal keys
 * the last one wins; half a surrogate pair becomes U+FFFD, as in Go. `subject` names the text in the message of a
 * Failure: ProviderUnavailable if it is not JSON, NotSupported if it is nested deeper than `DEPTH_LIMIT` or has more
 * values than `VALUES_LIMIT`.
 */
export function parseJSONText(text: string, subject = 'The text'): JSONNode {
  const cursor = { text, subject, at: 0, values: 0 }
  const node = readValue(cursor, 0)
  return cursor.at === text.length ? node : notJSON(cursor)
}

function readValue(cursor: Cursor, depth: number): JSONNode {
  skipSpace(cursor)
  const node = readBareValue(cursor, depth)
  skipSpace(cursor)
  return node
}

function readBareValue(cursor: Cursor, depth: number): JSONNode {
  cursor.values += 1
  if (cursor.values > VALUES_LIMIT) throw tooManyValues(cursor)
  const first = cursor.text[cursor.at]
  if (first === '"') return readString(cursor)
  if (first === '{') return readMapping(cursor, deeper(cursor, depth))
  if (first === '[') return readSequence(cursor, deeper(cursor, depth))
  const literal = LITERALS.find(([word]) => word[0] === first && cursor.text.startsWith(word, cursor.at))
  if (literal === undefined) return readNumber(cursor)
  cursor.at += literal[0].length
  return literal[1]
}

function deeper(cursor: Cursor, depth: number): number {
  if (depth < DEPTH_LIMIT) return depth + 1
  throw new Failure(
    'NotSupported',
    `${cursor.subject} is nested deeper than ${DEPTH_LIMIT} levels, which is the limit; refer to an object with less nesting.`,
  )
}

function tooManyValues({ subject }: Cursor): Failure {
  const message = `${subject} has more than the ${VALUES_LIMIT.toLocaleString('en-GB')} values that are supported; refer to a smaller object.`
  return new Failure('NotSupported', message)
}

function readMapping(cursor: Cursor, depth: number): Mapping {
  const members = new Map<string, JSONNode>()
  cursor.at += 1
  skipSpace(cursor)
  if (consume(cursor, '}')) return members
  do {
    skipSpace(cursor)
    const key = cursor.text[cursor.at] === '"' ? readString(cursor) : notJSON(cursor)
    skipSpace(cursor)
    if (!consume(cursor, ':')) notJSON(cursor)
    members.set(key, readValue(cursor, depth))
  } while (consume(cursor, ','))
  return consume(cursor, '}') ? members : notJSON(cursor)
}

function readSequence(cursor: Cursor, depth: number): Sequence {
  const items: JSONNode[] = []
  cursor.at += 1
  skipSpace(cursor)
  if (consume(cursor, ']')) return items
  do items.push(readValue(cursor, depth))
  while (consume(cursor, ','))
  return consume(cursor, ']') ? items : notJSON(cursor)
}

function readString(cursor: Cursor): string {
  const { text, at: start } = cursor
  const end = closingQuote(text, start + 1)
  const inside = text.slice(start + 1, end)
  if (end < 0 || CONTROL.test(inside)) return notJSON(cursor)
  const value = inside.includes('\\') ? unescaped(`"${inside}"`) : inside
  if (value === undefined) return notJSON(cursor)
  cursor.at = end + 1
  return value.toWellFormed()
}

/** The position of the first quote from here on that no backslash escapes; -1: there is none. */
function closingQuote(text: string, from: number): number {
  let quote = text.indexOf('"', from)
  while (quote >= 0 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1)
  return quote
}

// An odd number of backslashes before it; the text before the string ends with a quote.
function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text.charCodeAt(before) === BACKSLASH) before -= 1
  return (at - before) % 2 === 0
}

function unescaped(quoted: string): string | undefined {
  const value = parsedJSON(quoted)
  return typeof value === 'string' ? value : undefined
}

function readNumber(cursor: Cursor): JSONNode {
  NUMBER.lastIndex = cursor.at
  const digits = NUMBER.exec(cursor.text)?.[0]
  if (digits === undefined) return notJSON(cursor)
  cursor.at += digits.length
  return { digits }
}

function consume(cursor: Cursor, sign: string): boolean {
  if (cursor.text[cursor.at] !== sign) return false
  cursor.at += 1
  return true
}

function skipSpace(cursor: Cursor): void {
  while (SPACE.has(cursor.text.charCodeAt(cursor.at))) cursor.at += 1
}

function notJSON({ subject, at }: Cursor): never {
  throw new Failure(
    'ProviderUnavailable',
    `${subject} is not valid JSON (from character ${at + 1} on); ask the operator of the API that sent it.`,
  )
}

/** Writes a value as JSON with two-space indentation and a final newline, piece by piece. */
export function writeJSON(node: JSONNode, write: Write): void {
  writeNode(node, '\n', write)
  write('\n')
}

function writeNode(node: JSONNode, newline: string, write: Write): void {
  if (isMapping(node)) writeMapping(node, newline, write)
  else if (isSequence(node)) writeSequence(node, newline, write)
  else if (typeof node === 'object' && node !== null) write(node.digits)
  else write(JSON.stringify(node))
}

function writeMapping(mapping: Mapping, newline: string, write: Write): void {
  let before = '{'
  for (const [key, value] of mapping) {
    write(`${before}${newline}  ${JSON.stringify(key)}: `)
    writeNode(value, `${newline}  `, write)
    before = ','
  }
  write(mapping.size === 0 ? '{}' : `${newline}}`)
}

function writeSequence(sequence: Sequence, newline: string, write: Write): void {
  let before = '['
  for (const item of sequence) {
    write(`${before}${newline}  `)
    writeNode(item, `${newline}  `, write)
    before = ','
  }
  write(sequence.length === 0 ? '[]' : `${newline}]`)
}
