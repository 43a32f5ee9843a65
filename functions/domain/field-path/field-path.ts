import { Failure } from '../failure.ts'
import type { NumberText } from '../manifest/json-node.ts'
import { matchAt, readFilter, readName, readQuoted } from './step-text.ts'

/** One step from a value into it. */
export type FieldStep =
  | { readonly kind: 'key'; readonly key: string }
  /** An item of a list, counted from 0. */
  | { readonly kind: 'index'; readonly index: number }
  /** The one item of a list that has this value at these keys. */
  | { readonly kind: 'match'; readonly keys: readonly string[]; readonly value: string | NumberText }

/** The way to one field of an object or a file. */
export interface FieldPath {
  /** As the user wrote it. */
  readonly text: string
  /** At least one. */
  readonly steps: readonly FieldStep[]
}

/** A step that was read, and where the text goes on; a string is the end of a sentence that says what is wrong. */
export type StepRead = { readonly step: FieldStep; readonly end: number } | string

const LENGTH_LIMIT = 1_024
const STEPS_LIMIT = 32
const INDEX = /\[(0|[1-9]\d{0,8})\]/y

/** What people of JSONPath, jq and yq write, and what it is called. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/\.\./y, 'recursive descent'],
  [/\.?\[?\*/y, 'a wildcard'],
  [/\[\]/y, 'an iteration'],
  [/\[\s*-/y, 'a negative index'],
  [/\[[^\]"'?]*:/y, 'a slice'],
  [/\[[^\]"'?]*,/y, 'a union'],
  [/\s*\|/y, 'a pipe'],
  [/\?/y, 'an optional step'],
  [/\(/y, 'a function'],
]

/**
 * Reads a path as kubectl's JSONPath and jq have it: `.data["values.yaml"]`, `.spec.containers[0].image`,
 * `.containers[?(@.name=="app")]`; names may also be written `.metadata.labels.a\.b/c`, `['x']` and `."x"`. The first
 * dot may be missing or follow `$`, and all of it may stand in braces, as in kubectl. Takes time in proportion to the
 * text, which has at most 1,024 characters and 32 steps. Failure: InvalidSpec.
 */
export function parseFieldPath(text: string): FieldPath {
  const steps = readSteps(text)
  if (typeof steps === 'string') throw new Failure('InvalidSpec', `The path of a field ${steps}`)
  return { text, steps }
}

/** Why a text is not the path of a field, as the end of a sentence; undefined if it is one. */
export function fieldPathComplaint(text: string): string | undefined {
  const steps = readSteps(text)
  return typeof steps === 'string' ? steps : undefined
}

function readSteps(text: string): readonly FieldStep[] | string {
  if (text.length > LENGTH_LIMIT)
    return `has ${text.length.toLocaleString('en-GB')} characters, and at most ${LENGTH_LIMIT.toLocaleString('en-GB')} are allowed; choose a field that is nearer to the top.`
  if (!text.isWellFormed())
    return 'contains half a character (a lone surrogate); write it in whole characters.'
  const inBraces = text.startsWith('{') && text.endsWith('}')
  const [start, end] = inBraces ? [1, text.length - 1] : [0, text.length]
  return stepsBetween(text.slice(0, end), text.startsWith('$', start) ? start + 1 : start)
}

function stepsBetween(text: string, start: number): readonly FieldStep[] | string {
  const steps: FieldStep[] = []
  let at = start
  while (at < text.length) {
    if (steps.length === STEPS_LIMIT)
      return `has more than ${STEPS_LIMIT} steps, which is the limit; choose a field that is nearer to the top.`
    const read = readStep(text, at, at === 0 || text[at - 1] === '{')
    if (typeof read === 'string') return read
    steps.push(read.step)
    at = read.end
  }
  return steps.length > 0 ? steps : 'names no field; write one such as .data["values.yaml"].'
}

function readStep(text: string, at: number, isFirst: boolean): StepRead {
  // The usual step, which none of the others begins like.
  const named = text[at] === '.' ? readName(text, at + 1) : undefined
  if (named !== undefined) return named
  const refused = REFUSED.find(([form]) => matchAt(form, text, at) !== undefined)
  if (refused !== undefined) return unexpected(at, `has ${refused[1]}`)
  const next = text[at] === '.' ? at + 1 : at
  const first = text[next]
  if (first === '[') return readBracket(text, next)
  if (first === '"' && next > at)
    return readQuoted(text, next) ?? unexpected(next, 'has a name that is not closed')
  if (next > at || isFirst) return readName(text, next) ?? unexpected(next, foundAt(text, next))
  return unexpected(at, foundAt(text, at))
}

function readBracket(text: string, at: number): StepRead {
  const index = matchAt(INDEX, text, at)
  if (index !== undefined)
    return { step: { kind: 'index', index: Number(index[1]) }, end: at + index[0].length }
  const quoted = readQuoted(text, at + 1)
  if (quoted !== undefined && text[quoted.end] === ']') return { step: quoted.step, end: quoted.end + 1 }
  const filter = readFilter(text, at)
  if (filter !== undefined) return filter
  if (text.startsWith('[?', at))
    return unexpected(at, 'has a filter other than the comparison of a field with a text or a number')
  return unexpected(at, 'has brackets that hold neither a quoted name nor a number')
}

function foundAt(text: string, at: number): string {
  const [character] = text.slice(at)
  return character === undefined ? 'ends too early' : `has ${JSON.stringify(character)}`
}

function unexpected(at: number, found: string): string {
  return `${found} at character ${at + 1}; write steps such as .name, ["any name"], [0] and [?(@.name=="app")].`
}
