import type { JSONNode } from '../manifest/json-node.ts'
import { quotesOf } from './block-change.ts'
import { inlineText, jsonText, type JSONLayout } from './new-text.ts'
import { lineEnd, lineStart, type Lines, type Splice } from './splice.ts'
import type { TreeMapping, TreeNode } from './tree.ts'

/** How the values of a text in brackets are written. */
export type Format = 'json' | 'yaml'

const LEADING_SPACE = /[ \t]*/y

/** Replaces a value within brackets or braces. */
export function replacedInFlow(
  lines: Lines,
  node: TreeNode,
  value: JSONNode,
  format: Format,
): readonly Splice[] {
  const { start, end, after } = node
  const style = node.kind === 'scalar' ? node.style : 'plain'
  const text =
    format === 'json'
      ? jsonText(value, layoutAt(lines, start), lines.requireRoom)
      : inlineText(value, style, true)
  return [{ start, end, text: start === end && end === after ? ` ${text}` : text }]
}

/** Adds a member at the end of a mapping in braces, on a line of its own if the last one has one. */
export function addedToFlow(
  lines: Lines,
  { parent, name }: { readonly parent: TreeMapping; readonly name: string },
  { value, format }: { readonly value: JSONNode; readonly format: Format },
): readonly Splice[] {
  const last = parent.members.at(-1)
  if (last === undefined) return [firstMember(lines, parent, { name, value, format })]
  const { text, newline } = lines
  const colon = text.slice(last.key.end, last.value.start)
  const sign = /^:\s*$/.test(colon) && !colon.includes('\n') ? colon : ': '
  const before = parent.members.at(-2)?.value.end ?? parent.start + 1
  const member = memberText({ name, value, format }, { lines, at: last.key.start, last, sign })
  const between = text.slice(before, last.key.start)
  if (!between.includes('\n')) {
    const space = parent.members.length > 1 ? between.slice(between.lastIndexOf(',') + 1) : ' '
    return [
      {
        start: last.value.end,
        end: last.value.end,
        text: `,${space.trim() === '' && sign !== ':' ? space : ''}${member}`,
      },
    ]
  }
  const indent = indentAt(text, last.key.start)
  const comma = /^\s*,/.exec(text.slice(last.value.end, parent.end))
  if (comma !== null) {
    const at = lineEnd(text, last.value.end + comma[0].length)
    return [{ start: at, end: at, text: `${newline}${indent}${member},` }]
  }
  const at = Math.min(lineEnd(text, last.value.end), parent.end - 1)
  const added = { start: at, end: at, text: `${newline}${indent}${member}` }
  if (at === last.value.end) return [{ ...added, text: `,${added.text}` }]
  return [{ start: last.value.end, end: last.value.end, text: ',' }, added]
}

interface NewMember {
  readonly name: string
  readonly value: JSONNode
  readonly format: Format
}

function firstMember(lines: Lines, { start, end }: TreeMapping, member: NewMember): Splice {
  const { newline } = lines
  const layout = member.format === 'json' ? layoutAt(lines, start) : undefined
  if (layout === undefined) {
    const sign = member.format === 'json' ? ':' : ': '
    return { start: start + 1, end: start + 1, text: memberText(member, { lines, at: start, sign }) }
  }
  const inner = `${newline}${layout.indent}${layout.unit}`
  const below = { ...layout, indent: `${layout.indent}${layout.unit}` }
  const value = jsonText(member.value, below, lines.requireRoom)
  return {
    start: start + 1,
    end: end - 1,
    text: `${inner}${JSON.stringify(member.name)}: ${value}${newline}${layout.indent}`,
  }
}

function memberText(
  { name, value, format }: NewMember,
  {
    lines,
    at,
    last,
    sign,
  }: { lines: Lines; at: number; last?: TreeMapping['members'][number]; sign: string },
): string {
  if (format === 'json')
    return `${JSON.stringify(name)}${sign}${jsonText(value, layoutAt(lines, at), lines.requireRoom)}`
  const keyStyle = last?.key.kind === 'scalar' ? last.key.style : 'plain'
  return `${inlineText(name, keyStyle, true)}${sign}${inlineText(value, quotesOf(last?.value), true)}`
}

/** The layout of a JSON text at this place; undefined if the whole text is on one line. */
function layoutAt({ text, newline }: Lines, at: number): JSONLayout | undefined {
  const firstLine = text.search(/[\n]/)
  if (firstLine < 0 || text.slice(firstLine).trim() === '') return undefined
  const unit = /[{[]\s*?\n([ \t]+)/.exec(text.slice(0, 4_096))?.[1] ?? '  '
  return { newline, indent: indentAt(text, at), unit }
}

function indentAt(text: string, at: number): string {
  LEADING_SPACE.lastIndex = lineStart(text, at)
  return LEADING_SPACE.exec(text)?.[0] ?? ''
}
