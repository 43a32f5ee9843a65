import { lineAt, type Refuse } from './refusal.ts'
import type { TreeDocument, TreeMember, TreeNode, TreeScalar } from './tree.ts'

const DEPTH_LIMIT = 200
/** A text is read twice, and more would hold the event loop for longer than 100 ms. */
const VALUES_LIMIT = 50_000

// RFC 8259
const SPACE = /[ \t\r\n]*/y
const LETTERS = /[^"\\\0-\x1f]+/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y
const LITERAL = /(?:true|false|null)/y

interface Cursor {
  readonly text: string
  readonly refuse: Refuse
  at: number
  values: number
}

/** Reads a JSON text (RFC 8259) with the places of its values. Fails if it is not JSON or has a key twice. */
export function readJSON(text: string, refuse: Refuse): readonly TreeDocument[] {
  const cursor = { text, refuse, at: 0, values: 0 }
  const root = readValue(cursor, 0)
  take(cursor, SPACE)
  if (cursor.at < text.length) throw notJSON(cursor)
  return [{ root, aliases: new Set() }]
}

function readValue(cursor: Cursor, depth: number): TreeNode {
  const { at: after, text, refuse } = cursor
  take(cursor, SPACE)
  cursor.values += 1
  if (cursor.values > VALUES_LIMIT)
    throw refuse('has more values than are supported; split the file.', 'NotSupported')
  const sign = text[cursor.at]
  if (sign !== '{' && sign !== '[') return readScalar(cursor, after)
  if (depth === DEPTH_LIMIT)
    throw refuse(
      `is nested deeper than ${DEPTH_LIMIT} levels, which is the limit; use a file with less nesting.`,
      'NotSupported',
    )
  return sign === '{' ? readMapping(cursor, after, depth) : readSequence(cursor, after, depth)
}

function readScalar(cursor: Cursor, after: number): TreeScalar {
  const start = cursor.at
  const quoted = takeString(cursor)
  if (quoted !== undefined) {
    return { kind: 'scalar', style: 'double', value: stringOf(quoted), start, end: cursor.at, after }
  }
  const literal = take(cursor, LITERAL)
  const digits = literal ?? take(cursor, NUMBER)
  if (digits === undefined) throw notJSON(cursor)
  const value = literal === undefined ? { digits } : literal === 'null' ? null : literal === 'true'
  return { kind: 'scalar', style: 'plain', value, start, end: cursor.at, after }
}

function readMapping(cursor: Cursor, after: number, depth: number): TreeNode {
  const start = cursor.at
  const members: TreeMember[] = []
  const names = new Set<string>()
  readList(cursor, '}', () => {
    const member = readMember(cursor, depth)
    if (names.has(member.name)) {
      const line = lineAt(cursor.text, member.key.start)
      throw cursor.refuse(`has a key twice (line ${line}); fix the file.`)
    }
    names.add(member.name)
    members.push(member)
  })
  return { kind: 'mapping', flow: true, indent: 0, members, start, end: cursor.at, after }
}

function readMember(cursor: Cursor, depth: number): TreeMember {
  const after = cursor.at
  take(cursor, SPACE)
  const start = cursor.at
  const quoted = takeString(cursor)
  if (quoted === undefined) throw notJSON(cursor)
  const name = stringOf(quoted)
  const key: TreeScalar = { kind: 'scalar', style: 'double', value: name, start, end: cursor.at, after }
  take(cursor, SPACE)
  if (!consume(cursor, ':')) throw notJSON(cursor)
  return { name, key, value: readValue(cursor, depth + 1) }
}

function readSequence(cursor: Cursor, after: number, depth: number): TreeNode {
  const start = cursor.at
  const items: TreeNode[] = []
  readList(cursor, ']', () => items.push(readValue(cursor, depth + 1)))
  return { kind: 'sequence', flow: true, indent: 0, items, start, end: cursor.at, after }
}

function readList(cursor: Cursor, close: string, readItem: () => void): void {
  cursor.at += 1
  take(cursor, SPACE)
  if (consume(cursor, close)) return
  do {
    readItem()
    take(cursor, SPACE)
  } while (consume(cursor, ','))
  if (!consume(cursor, close)) throw notJSON(cursor)
}

function take(cursor: Cursor, form: RegExp): string | undefined {
  form.lastIndex = cursor.at
  const found = form.exec(cursor.text)?.[0]
  cursor.at += found?.length ?? 0
  return found
}

// One pattern for the whole string would go back over it again and again where its end is missing.
function takeString(cursor: Cursor): string | undefined {
  const start = cursor.at
  if (!consume(cursor, '"')) return undefined
  while (take(cursor, LETTERS) !== undefined || take(cursor, ESCAPE) !== undefined);
  if (consume(cursor, '"')) return cursor.text.slice(start, cursor.at)
  cursor.at = start
  return undefined
}

function consume(cursor: Cursor, sign: string): boolean {
  if (cursor.text[cursor.at] !== sign) return false
  cursor.at += 1
  return true
}

function stringOf(quoted: string): string {
  const value: unknown = JSON.parse(quoted)
  return typeof value === 'string' ? value : ''
}

function notJSON({ text, at, refuse }: Cursor): Error {
  return refuse(`is not valid JSON (line ${lineAt(text, at)}); fix the file, or write it whole.`)
}
