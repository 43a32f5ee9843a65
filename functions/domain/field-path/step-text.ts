import { parsedJSON } from '../json-value.ts'
import type { NumberText } from '../manifest/json-node.ts'

/** A name, and where the text goes on after it. */
export interface NameStep {
  readonly step: { readonly kind: 'key'; readonly key: string }
  readonly end: number
}

/** A comparison, and where the text goes on after it. */
export interface FilterStep {
  readonly step: {
    readonly kind: 'match'
    readonly keys: readonly string[]
    readonly value: string | NumberText
  }
  readonly end: number
}

// A backslash before a dot or another backslash, as in kubectl.
const NAME = /(?:[\w/-]|\\[.\\])+/y
const DOUBLE_QUOTED = /"(?:[^"\\]|\\.)*"/y
const SINGLE_QUOTED = /'(?:[^'\\]|\\['\\])*'/y
/** Keys that a comparison goes down at most, as many as a path has steps. */
const KEYS_LIMIT = 32
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y
const FILTER_START = /\[\?\(\s*@/y
const EQUALS = /\s*==\s*/y
const FILTER_END = /\s*\)\]/y

/** The match of a sticky expression at this place. */
export function matchAt(form: RegExp, text: string, at: number): RegExpExecArray | undefined {
  form.lastIndex = at
  return form.exec(text) ?? undefined
}

/** Reads a name without quotes; undefined: there is none. */
export function readName(text: string, at: number): NameStep | undefined {
  const name = matchAt(NAME, text, at)?.[0]
  if (name === undefined) return undefined
  return { step: { kind: 'key', key: name.replaceAll(/\\(.)/g, '$1') }, end: at + name.length }
}

/** Reads a name or a text in quotes, in double quotes with the escapes of JSON; undefined: there is none. */
export function readQuoted(text: string, at: number): NameStep | undefined {
  const single = matchAt(SINGLE_QUOTED, text, at)?.[0]
  if (single !== undefined) {
    const key = single.slice(1, -1).replaceAll(/\\(.)/g, '$1')
    return { step: { kind: 'key', key }, end: at + single.length }
  }
  const double = matchAt(DOUBLE_QUOTED, text, at)?.[0]
  const key = double === undefined ? undefined : unescaped(double)
  return double === undefined || key === undefined
    ? undefined
    : { step: { kind: 'key', key }, end: at + double.length }
}

/** Reads `[?(@.name=="app")]`, whose value is a text or a number; undefined: it is not of this form. */
export function readFilter(text: string, start: number): FilterStep | undefined {
  const opened = matchAt(FILTER_START, text, start)
  if (opened === undefined) return undefined
  const keys: string[] = []
  let at = start + opened[0].length
  for (let name = readKey(text, at); name !== undefined; name = readKey(text, at)) {
    if (keys.length === KEYS_LIMIT) return undefined
    keys.push(name.step.key)
    at = name.end
  }
  const sign = matchAt(EQUALS, text, at)
  if (sign === undefined || keys.length === 0) return undefined
  at += sign[0].length
  const value = readValue(text, at)
  const closed = value === undefined ? undefined : matchAt(FILTER_END, text, value.end)
  if (value === undefined || closed === undefined) return undefined
  return { step: { kind: 'match', keys, value: value.value }, end: value.end + closed[0].length }
}

function readKey(text: string, at: number): NameStep | undefined {
  if (text[at] === '.') return readName(text, at + 1)
  const quoted = text[at] === '[' ? readQuoted(text, at + 1) : undefined
  return quoted !== undefined && text[quoted.end] === ']' ? { ...quoted, end: quoted.end + 1 } : undefined
}

function readValue(
  text: string,
  at: number,
): { readonly value: string | NumberText; readonly end: number } | undefined {
  const quoted = readQuoted(text, at)
  if (quoted !== undefined) return { value: quoted.step.key, end: quoted.end }
  const digits = matchAt(NUMBER, text, at)?.[0]
  return digits === undefined ? undefined : { value: { digits }, end: at + digits.length }
}

function unescaped(quoted: string): string | undefined {
  const value = parsedJSON(quoted)
  return typeof value === 'string' && value.isWellFormed() ? value : undefined
}
