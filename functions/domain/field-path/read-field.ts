import { Failure } from '../failure.ts'
import { isMapping, isSequence } from '../manifest/json-node.ts'
import type { JSONNode, NumberText } from '../manifest/json-node.ts'
import type { FieldPath, FieldStep } from './field-path.ts'

/** The field, or the deepest level that is there. */
export type FieldLookup =
  { readonly found: true; readonly value: JSONNode } | ({ readonly found: false } & MissingField)

/** What there is where the path cannot go on. */
export interface MissingField {
  /** Number of steps that are there. */
  readonly depth: number
  readonly level: 'mapping' | 'list' | 'value'
  /** Keys of the mapping, without their values, at most `NAMES_LIMIT`. */
  readonly keys: readonly string[]
  /** Keys of the mapping, or items of the list, in all. */
  readonly size: number
  /** How many items of the list match the step, unless it is exactly one. */
  readonly matches?: number
}

/** Maximum names in a message, and characters of each. */
const NAMES_LIMIT = 20
const NAME_LIMIT = 64

/** Looks a field up. Takes time in proportion to the lists that are searched. */
export function readField(object: JSONNode, path: FieldPath): FieldLookup {
  let node = object
  for (const [depth, step] of path.steps.entries()) {
    const next = takeStep(node, step)
    if (next === undefined || typeof next === 'number') return { found: false, ...missing(node, depth, next) }
    node = next.value
  }
  return { found: true, value: node }
}

/** The failure for a field that is not there: ReferenceNotFound with the names of what is there. */
export function missingFieldFailure({ text }: FieldPath, found: MissingField, subject: string): Failure {
  return new Failure('ReferenceNotFound', `${subject} has no field ${text}: ${whatIsThere(found)}`)
}

function whatIsThere({ depth, level, keys, size, matches }: MissingField): string {
  const place = depth === 0 ? 'the top' : `step ${depth}`
  if (matches !== undefined && matches > 1)
    return `${matches} items of the list at ${place} match, where exactly one has to; compare another field.`
  if (level === 'list') return `there is a list of ${counted(size, 'item')} at ${place}; correct the field.`
  if (level === 'value') return `there is a single value at ${place}; correct the field.`
  if (size === 0) return `the mapping at ${place} is empty; correct the field.`
  const more = size > keys.length ? ` and ${size - keys.length} more` : ''
  return `the keys at ${place} are ${keys.map(shownKey).join(', ')}${more}; correct the field.`
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function shownKey(key: string): string {
  const cut = key.length > NAME_LIMIT ? `${key.slice(0, NAME_LIMIT - 1).toWellFormed()}…` : key
  return JSON.stringify(cut)
}

/** The next value; a number of matches that is not one; undefined: there is none. */
function takeStep(node: JSONNode, step: FieldStep): { readonly value: JSONNode } | number | undefined {
  if (step.kind === 'key') return isMapping(node) ? wrapped(node.get(step.key)) : undefined
  if (!isSequence(node)) return undefined
  if (step.kind === 'index') return wrapped(node[step.index])
  const isSame = comparisonWith(step.value)
  const matching = node.filter((item) => isSame(valueAt(item, step.keys)))
  const [value] = matching
  return matching.length === 1 ? wrapped(value) : matching.length
}

// A value may be null.
function wrapped(value: JSONNode | undefined): { readonly value: JSONNode } | undefined {
  return value === undefined ? undefined : { value }
}

function valueAt(node: JSONNode, keys: readonly string[]): JSONNode | undefined {
  let value: JSONNode | undefined = node
  for (const key of keys) value = isMapping(value) ? value.get(key) : undefined
  return value
}

/**
 * Tells of a value whether it is this text, or this number however it is written. For all items of a list: a number whose 770
 * digits lie between two that a double can be takes 4 microseconds to be read.
 */
export function comparisonWith(expected: string | NumberText): (value: JSONNode | undefined) => boolean {
  if (typeof expected === 'string') return (value) => value === expected
  const { digits } = expected
  const number = Number(digits)
  return (value) =>
    typeof value === 'object' &&
    value !== null &&
    'digits' in value &&
    (value.digits === digits || Number(value.digits) === number)
}

function missing(node: JSONNode, depth: number, matches: number | undefined): MissingField {
  const found = matches === undefined ? {} : { matches }
  if (isSequence(node)) return { depth, level: 'list', keys: [], size: node.length, ...found }
  if (!isMapping(node)) return { depth, level: 'value', keys: [], size: 0 }
  return { depth, level: 'mapping', keys: [...node.keys()].slice(0, NAMES_LIMIT), size: node.size }
}
