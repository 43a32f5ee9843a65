import { elements } from '../../../functions/domain/json-value.ts'

/** A JSON Schema, as far as the tables of operations need it. */
export type Schema = Readonly<Record<string, unknown>>

/** Names of parameters or fields, and what each holds. */
export type Fields = Readonly<Record<string, Schema>>

export const TEXT: Schema = { type: 'string' }
export const INTEGER: Schema = { type: 'integer' }
export const FLAG: Schema = { type: 'boolean' }
export const ANYTHING: Schema = {}
export const ANY_OBJECT: Schema = { type: 'object' }

/** One of these words; written with blanks between them. */
export function oneOf(words: string): Schema {
  return { type: 'string', enum: words.split(' ') }
}

/** Text of at most this many characters. */
export function textOfAtMost(maxLength: number): Schema {
  return { type: 'string', maxLength }
}

/** Text that holds a match of this regular expression. */
export function textLike(pattern: string): Schema {
  return { type: 'string', pattern }
}

/** A list; in a query its key is repeated. */
export function listOf(items: Schema): Schema {
  return { type: 'array', items }
}

/** The same, with one at least. */
export function filledListOf(items: Schema): Schema {
  return { ...listOf(items), minItems: 1 }
}

/** A list that in a query is one text with commas. */
export function commaList(items: Schema): Schema {
  return { ...listOf(items), commas: true }
}

/** One of these types. */
export function either(...choices: readonly Schema[]): Schema {
  return { anyOf: choices }
}

/** An integer of at least this. */
export function atLeast(minimum: number): Schema {
  return { type: 'integer', minimum }
}

/** An object that may hold other fields as well; those in `needs`, with blanks between them, have to be there. */
export function openObject(fields: Fields, needs = ''): Schema {
  return { type: 'object', properties: fields, required: needs.split(' ').filter((name) => name !== '') }
}

/** An object that holds no other fields. */
export function closedObject(fields: Fields): Schema {
  return { type: 'object', properties: fields, additionalProperties: false }
}

/** Several names, with blanks between them, of the same type. */
export function each(names: string, schema: Schema): Fields {
  return Object.fromEntries(names.split(' ').map((name) => [name, schema]))
}

/** The same fields, each of which may be null too. */
export function nullable(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, orNull(schema)]))
}

function orNull(schema: Schema): Schema {
  const { type, enum: words, anyOf: choices } = schema
  if (Array.isArray(choices)) return { anyOf: [...elements(choices), { type: 'null' }] }
  const listed = words === undefined ? {} : { enum: [...elements(words), null] }
  return { ...schema, ...listed, type: [type, 'null'] }
}
