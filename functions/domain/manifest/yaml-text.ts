import {
  isEmpty,
  isMapping,
  isSequence,
  type Mapping,
  type JSONNode,
  type Sequence,
  type Write,
} from './json-node.ts'
import { flowScalar, literalHeader, numberScalar } from './yaml-scalar.ts'

// Readers look for the colon of a simple key only in the first 1,024 characters (YAML 1.2.2, 7.4.2).
const SIMPLE_KEY_LIMIT = 1_000

/**
 * The value as one YAML document that every reader of YAML 1.1 and 1.2 reads as the same value: block style
 * as kubectl prints it, two-space indentation, no folding, no anchors, final newline. Equal values have equal
 * bytes. The value must not contain half a surrogate pair.
 */
export function toYAML(node: JSONNode): string {
  let text = ''
  writeYAML(node, (piece) => {
    text += piece
  })
  return text
}

/** The same document piece by piece; no piece is longer than one line, and `write` may throw to stop. */
export function writeYAML(node: JSONNode, write: Write): void {
  if (isEmpty(node)) write(`${emptyText(node)}\n`)
  else if (isMapping(node)) writeMapping(node, { indent: '', lead: '' }, write)
  else if (isSequence(node)) writeSequence(node, { indent: '', lead: '' }, write)
  else write(`${scalarText(node)}\n`)
}

/** `lead` comes before the first line, `indent` before all others: they differ after a dash. */
interface Margin {
  readonly indent: string
  readonly lead: string
}

type Scalar = Exclude<JSONNode, Mapping | Sequence>

function writeMapping(mapping: Mapping, { indent, lead }: Margin, write: Write): void {
  let before = lead
  for (const [key, value] of mapping) {
    const name = flowScalar(key)
    write(name.length > SIMPLE_KEY_LIMIT ? `${before}? ${name}\n${indent}:` : `${before}${name}:`)
    writeMember(value, indent, write)
    before = indent
  }
}

function writeMember(value: JSONNode, indent: string, write: Write): void {
  const inner = `${indent}  `
  if (isEmpty(value)) write(` ${emptyText(value)}\n`)
  else if (isMapping(value)) {
    write('\n')
    writeMapping(value, { indent: inner, lead: inner }, write)
  } else if (isSequence(value)) {
    write('\n')
    writeSequence(value, { indent, lead: indent }, write)
  } else writeScalar(value, inner, write)
}

function writeSequence(sequence: Sequence, { indent, lead }: Margin, write: Write): void {
  const inner = { indent: `${indent}  `, lead: ' ' }
  let before = lead
  for (const item of sequence) {
    write(`${before}-`)
    if (isEmpty(item)) write(` ${emptyText(item)}\n`)
    else if (isMapping(item)) writeMapping(item, inner, write)
    else if (isSequence(item)) writeSequence(item, inner, write)
    else writeScalar(item, inner.indent, write)
    before = indent
  }
}

/** What follows the colon or the dash; `indent` is that of a block literal's lines. */
function writeScalar(scalar: Scalar, indent: string, write: Write): void {
  const header = typeof scalar === 'string' ? literalHeader(scalar) : undefined
  if (typeof scalar !== 'string' || header === undefined) write(` ${scalarText(scalar)}\n`)
  else {
    write(` ${header}\n`)
    writeLines(scalar, indent, write)
  }
}

function writeLines(text: string, indent: string, write: Write): void {
  let start = 0
  while (start < text.length) {
    const found = text.indexOf('\n', start)
    const end = found < 0 ? text.length : found
    write(end === start ? '\n' : `${indent}${text.slice(start, end)}\n`)
    start = end + 1
  }
}

function scalarText(scalar: Scalar): string {
  if (typeof scalar === 'string') return flowScalar(scalar)
  if (typeof scalar === 'boolean' || scalar === null) return String(scalar)
  return numberScalar(scalar)
}

function emptyText(node: JSONNode): string {
  return isMapping(node) ? '{}' : '[]'
}
