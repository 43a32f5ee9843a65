import { isEmpty, isMapping, isSequence, type JSONNode, type Write } from '../manifest/json-node.ts'
import { writeJSON } from '../manifest/json-text.ts'
import { doubleQuoted, flowScalar, literalHeader, numberScalar } from '../manifest/yaml-scalar.ts'
import { writeYAML } from '../manifest/yaml-text.ts'
import type { RequireRoom } from './splice.ts'
import type { ScalarStyle } from './tree.ts'

/** Text that stands after a sign, and full lines below it. */
export interface NewText {
  /** Without a space before it. */
  readonly head: string
  /** Without indentation. */
  readonly lines: readonly string[]
  readonly kind: 'inline' | 'literal' | 'mapping' | 'list'
}

/** What is not plain within brackets, in every reader. */
const FLOW_SIGN = /[,[\]{}:?]/
const NEVER_SINGLE = /[\p{Cc}\p{Cs}\u2028\u2029\uFEFF\uFFFE\uFFFF]/u

/**
 * A value as block YAML: a string of several lines as a literal, a list or a mapping as lines, everything else on one
 * line. `style` is that of the string before, whose quotes are kept. Without `literal` nothing ends in a literal: such a
 * string is on one line, and what ends in it is in brackets.
 */
export function blockText(
  value: JSONNode,
  style: ScalarStyle,
  { literal, requireRoom }: { readonly literal: boolean; readonly requireRoom: RequireRoom },
): NewText {
  const last = lastText(value)
  const header = last === undefined ? undefined : literalHeader(last)
  // The empty lines that follow in the file would belong to a literal that keeps them.
  const mayEnd = header === undefined || (literal && last?.endsWith('\n\n') !== true)
  if (mayEnd && !isEmpty(value) && (isMapping(value) || isSequence(value)))
    return {
      head: '',
      lines: linesOf(textOf((write) => writeYAML(value, write), requireRoom)),
      kind: isMapping(value) ? 'mapping' : 'list',
    }
  if (typeof value !== 'string' || header === undefined || !mayEnd)
    return { head: inlineText(value, style, false), lines: [], kind: 'inline' }
  return { head: header, lines: linesOf(value.endsWith('\n') ? value : `${value}\n`), kind: 'literal' }
}

/** The text in which a value ends. */
function lastText(value: JSONNode): string | undefined {
  let node: JSONNode | undefined = value
  while (node !== undefined && (isMapping(node) || isSequence(node)))
    node = isSequence(node) ? node.at(-1) : [...node.values()].at(-1)
  return typeof node === 'string' ? node : undefined
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').slice(0, -1)
}

/** A value on one line; `flow` says that it stands in brackets, where more strings need quotes. */
export function inlineText(value: JSONNode, style: ScalarStyle, flow: boolean): string {
  if (isSequence(value)) return `[${value.map((item) => inlineText(item, 'plain', true)).join(', ')}]`
  if (isMapping(value)) {
    const members = [...value].map(
      ([key, item]) => `${inlineText(key, 'plain', true)}: ${inlineText(item, 'plain', true)}`,
    )
    return `{${members.join(', ')}}`
  }
  if (typeof value === 'string') return stringText(value, style, flow)
  return typeof value === 'object' && value !== null ? numberScalar(value) : String(value)
}

function stringText(value: string, style: ScalarStyle, flow: boolean): string {
  if (style === 'double') return doubleQuoted(value)
  const text = flowScalar(value)
  const isPlain = text === value
  const wantsQuotes = style === 'single' || (flow && FLOW_SIGN.test(value))
  const needsDouble = NEVER_SINGLE.test(value) || (style !== 'single' && !isPlain)
  return wantsQuotes && !needsDouble ? `'${value.replaceAll("'", "''")}'` : text
}

/** A value as JSON: on one line, or on several whose first is not indented. */
export function jsonText(value: JSONNode, layout: JSONLayout | undefined, requireRoom: RequireRoom): string {
  const text = textOf((write) => writeJSON(value, write), requireRoom).slice(0, -1)
  if (layout === undefined)
    return text.replaceAll(JSON_SPACE, (_, quoted: string | undefined) => quoted ?? '')
  const { newline, indent, unit } = layout
  const [first = '', ...rest] = text.split('\n')
  const depths = rest.map((line) => line.search(/[^ ]/) / WRITTEN_UNIT)
  const added = depths.map((depth) => indent.length + (unit.length - WRITTEN_UNIT) * depth)
  requireRoom(added.reduce((sum, size) => sum + size, text.length))
  const lines = rest.map((line, at) => {
    const depth = depths[at] ?? 0
    return `${newline}${indent}${unit.repeat(depth)}${line.slice(WRITTEN_UNIT * depth)}`
  })
  return `${first}${lines.join('')}`
}

function textOf(writeTo: (write: Write) => void, requireRoom: RequireRoom): string {
  let text = ''
  writeTo((piece) => {
    text += piece
    requireRoom(text.length)
  })
  return text
}

/** How the lines of a JSON text begin. */
export interface JSONLayout {
  readonly newline: string
  /** Of the line of the value. */
  readonly indent: string
  /** Of one level more. */
  readonly unit: string
}

/** Blanks of one level more, as JSON is written here at first. */
const WRITTEN_UNIT = 2
/** A string, or white space outside of strings. */
const JSON_SPACE = /("(?:[^"\\]|\\.)*")|\s+/g
