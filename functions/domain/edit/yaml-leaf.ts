import { CST } from 'yaml'
import { readsAsAnother } from '../manifest/yaml-scalar.ts'
import { lineAt, type Refuse } from './refusal.ts'
import type { ScalarValue, TreeAlias, TreeScalar } from './tree.ts'
import { invalidYAML } from './yaml-tokens.ts'

// The core schema of YAML 1.2 (10.3.2).
const NULL = /^(?:~|null|Null|NULL)?$/
const TRUE = /^(?:true|True|TRUE)$/
const FALSE = /^(?:false|False|FALSE)$/
const NUMBER =
  /^(?:[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|0o[0-7]+|0x[\da-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/

/** What comes before a value: anchor, tag, and where they and the sign before them end. */
export interface Properties {
  readonly after: number
  readonly anchor?: string
  readonly tag?: string
}

/** A document that is read. */
export interface Reading {
  readonly text: string
  readonly refuse: Refuse
  readonly anchors: Set<string>
  readonly aliases: Set<string>
}

/** Reads a scalar, an alias or an empty value. Aliases are not followed. Fails for one without an anchor before it. */
export function readLeaf(
  token: CST.Token | null | undefined,
  properties: Properties,
  reading: Reading,
): TreeScalar | TreeAlias {
  if (token === null || token === undefined) {
    const { after } = properties
    return { ...properties, kind: 'scalar', style: 'empty', value: null, start: after, end: after }
  }
  const start = token.offset
  if (token.type === 'block-scalar') return readBlockScalar(token, properties, reading)
  const end = start + ('source' in token ? token.source.length : 0)
  if (token.type === 'alias') return readAlias(token.source.slice(1), { ...properties, start, end }, reading)
  const text = CST.resolveAsScalar(token)?.value ?? ''
  if (token.type === 'single-quoted-scalar' || token.type === 'double-quoted-scalar') {
    const style = token.type === 'single-quoted-scalar' ? 'single' : 'double'
    return { ...properties, kind: 'scalar', style, value: text, start, end }
  }
  const value = properties.tag === undefined ? plainValue(text) : text
  return { ...properties, kind: 'scalar', style: 'plain', value, start, end }
}

function readAlias(
  name: string,
  placed: Properties & { start: number; end: number },
  reading: Reading,
): TreeAlias {
  const { text, refuse, anchors, aliases } = reading
  if (!anchors.has(name)) {
    const line = lineAt(text, placed.start)
    throw refuse(`is not valid YAML (line ${line} has an alias without an anchor before it); fix the file.`)
  }
  aliases.add(name)
  return { ...placed, kind: 'alias', name }
}

/**
 * Reads a block scalar as PyYAML and Go's yaml do (YAML 1.2.2, 8.1): white space with more columns than its indentation
 * belongs to it in any line, and without a line end after its last line its value has none.
 */
function readBlockScalar(token: CST.BlockScalar, properties: Properties, reading: Reading): TreeScalar {
  const { text } = reading
  const [header, ...rest] = token.props
  const headerText = header !== undefined && 'source' in header ? header.source : ''
  const headerEnd = token.offset + headerText.length
  const bodyStart = rest.reduce((at, part) => at + ('source' in part ? part.source.length : 0), headerEnd)
  const indentation = indentationOf(token, headerText)
  const wholeEnd = endOfBlock(text, bodyStart + token.source.length, indentation)
  const source = text.slice(bodyStart, wholeEnd)
  const resolved = CST.resolveAsScalar({ ...token, source }, true, (at) => {
    throw invalidYAML(reading, at)
  })
  const lastLine = source.slice(source.lastIndexOf('\n') + 1)
  const isCut = resolved.value.endsWith('\n') && (lastLine.trim() !== '' || lastLine.length > indentation)
  const value = isCut ? resolved.value.slice(0, -1) : resolved.value
  const end = headerEnd + text.slice(headerEnd, wholeEnd).replace(/\r?\n$/, '').length
  return { ...properties, kind: 'scalar', style: 'block', value, start: token.offset, end, headerEnd }
}

/** Columns before the text of a block scalar: as its header says, or those of its first line that is not empty. */
function indentationOf({ indent, source }: CST.BlockScalar, header: string): number {
  const digit = /[1-9]/.exec(header)?.[0]
  if (digit !== undefined) return indent + Number(digit)
  return /^(?:[ ]*\r?\n)*( *)[^ \r\n]/.exec(source)?.[1]?.length ?? Infinity
}

/** The end of a block scalar with the lines of white space after it that are longer than its indentation. */
function endOfBlock(text: string, from: number, indentation: number): number {
  const blank = / *(?:\r?\n|$)/y
  let end = from
  for (let at = from; at < text.length; at = blank.lastIndex) {
    blank.lastIndex = at
    const line = blank.exec(text)?.[0]
    if (line === undefined) break
    if (line.replace(/\r?\n$/, '').length > indentation) end = blank.lastIndex
  }
  return end
}

function plainValue(text: string): ScalarValue {
  if (NULL.test(text)) return null
  if (TRUE.test(text)) return true
  if (FALSE.test(text)) return false
  if (NUMBER.test(text)) return { digits: text }
  return readsAsAnother(text) ? { unclear: text } : text
}
