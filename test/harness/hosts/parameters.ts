import { isRecord, member } from '../../../functions/domain/json-value.ts'
import { objectionsTo } from './conformity.ts'
import type { Fields, Schema } from './field-types.ts'
import type { Operation } from './operations.ts'

/** What is wrong with the variable segments of a path that matches the operation's template; one phrase each. */
export function pathObjections({ pattern, names }: Operation, path: string): readonly string[] {
  const values = pattern.exec(path)?.slice(1) ?? []
  return names.flatMap(({ name, schema }, index) => {
    const text = decoded(values[index] ?? '')
    if (text === undefined) return [`${name} in the path is not percent-encoded as it should be`]
    return firstAllowed(readings(text), schema).map((phrase) => `${name} in the path ${phrase}`)
  })
}

/** What is wrong with the query: unknown keys, missing ones, and values of the wrong type; one phrase each. */
export function queryObjections(operation: Operation, query: URLSearchParams): readonly string[] {
  const { query: fields = {}, queryNeeds } = operation
  const missing = queryNeeds
    .filter((name) => !query.has(name))
    .map((name) => `${name} is missing in the query`)
  const wrong = [...new Set(query.keys())].flatMap((key) => {
    const schema = schemaFor(fields, key)
    if (schema === undefined) return [`it knows no ${key} in the query`]
    return valueObjections(schema, key, query.getAll(key))
  })
  return [...missing, ...wrong]
}

function valueObjections(schema: Schema, key: string, values: readonly string[]): readonly string[] {
  if (!isList(schema) && values.length > 1) return [`${key} is in the query more than once`]
  const commas = schema.commas === true && !key.endsWith('[]')
  const candidates = isList(schema) ? listReadings(values, commas) : readings(values[0] ?? '')
  return firstAllowed(candidates, schema).map((phrase) => `${key} in the query ${phrase}`)
}

/** Rails reads `labels[]=a&labels[]=b` as the list `labels`. */
function schemaFor(fields: Fields, key: string): Schema | undefined {
  if (Object.hasOwn(fields, key)) return fields[key]
  const list = key.endsWith('[]') ? member(fields, key.slice(0, -2)) : undefined
  return isRecord(list) && isList(list) ? list : undefined
}

function isList(schema: Schema): boolean {
  return schema.type === 'array'
}

function listReadings(values: readonly string[], commas: boolean): readonly unknown[] {
  const texts = commas ? values.flatMap((value) => value.split(',')) : values
  return [texts, texts.map((text) => readings(text).at(-1))]
}

/** The values that a text in a path or query may mean: itself, and the number or boolean that it writes. */
function readings(text: string): readonly unknown[] {
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return [text, Number(text)]
  return text === 'true' || text === 'false' ? [text, text === 'true'] : [text]
}

/** Empty where one of the readings conforms, else the violations of the last one. */
function firstAllowed(candidates: readonly unknown[], schema: Schema): readonly string[] {
  const said = candidates.map((candidate) => objectionsTo(candidate, schema))
  return said.some((phrases) => phrases.length === 0) ? [] : (said.at(-1) ?? [])
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
