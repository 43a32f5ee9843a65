import { elements, member } from '../../../functions/domain/member.ts'
import type { Conformity } from './conformity.ts'
import { namesIn } from './operations.ts'
import type { Operation, Parameter } from './operations.ts'

/** What is wrong with the variable segments of a path that matches the operation's template; one phrase each. */
export function pathObjections(
  operation: Operation,
  path: string,
  conformity: Conformity,
): readonly string[] {
  const values = operation.pattern.exec(path)?.slice(1) ?? []
  return namesIn(operation.template).flatMap((name, index) => {
    const text = decoded(values[index] ?? '')
    if (text === undefined) return [`${name} in the path is not percent-encoded as it should be`]
    const parameter = operation.parameters.find((one) => one.place === 'path' && one.name === name)
    const phrases = firstAllowed(readings(text), parameter?.schema, conformity)
    return phrases.map((phrase) => `${name} in the path ${phrase}`)
  })
}

/** What is wrong with the query: unknown keys, missing ones, and values of the wrong type; one phrase each. */
export function queryObjections(
  operation: Operation,
  query: URLSearchParams,
  conformity: Conformity,
): readonly string[] {
  const parameters = operation.parameters.filter(({ place }) => place === 'query')
  const missing = parameters
    .filter((parameter) => parameter.required && ![...query.keys()].some((key) => isFor(parameter, key)))
    .map(({ name }) => `${name} is missing in the query`)
  const wrong = [...new Set(query.keys())].flatMap((key) => {
    const parameter = parameters.find((one) => isFor(one, key))
    if (parameter === undefined) return [`it knows no ${key} in the query`]
    return valueObjections(parameter, { key, values: query.getAll(key) }, conformity)
  })
  return [...missing, ...wrong]
}

interface Given {
  readonly key: string
  readonly values: readonly string[]
}

function valueObjections(
  { schema, commas }: Parameter,
  { key, values }: Given,
  conformity: Conformity,
): readonly string[] {
  if (!isList(schema) && values.length > 1) return [`${key} is in the query more than once`]
  const phrases = firstAllowed(
    isList(schema) ? listReadings(values, commas && !key.endsWith('[]')) : readings(values[0] ?? ''),
    schema,
    conformity,
  )
  return phrases.map((phrase) => `${key} in the query ${phrase}`)
}

/** Rails reads `labels[]=a&labels[]=b` as the list `labels`; some descriptions write the brackets, some do not. */
function isFor({ name, schema }: Parameter, key: string): boolean {
  return key === name || (isList(schema) && key === `${name}[]`)
}

function isList(schema: unknown): boolean {
  const parts = ['anyOf', 'oneOf'].flatMap((word) => elements(member(schema, word)))
  return member(schema, 'type') === 'array' || parts.some(isList)
}

function listReadings(values: readonly string[], commas: boolean): readonly unknown[] {
  const texts = commas ? values.flatMap((value) => value.split(',')) : values
  return [texts, texts.map((text) => readings(text).at(-1))]
}

/** What a text in a path or query may stand for: itself, and the number or boolean that it writes. */
function readings(text: string): readonly unknown[] {
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return [text, Number(text)]
  return text === 'true' || text === 'false' ? [text, text === 'true'] : [text]
}

/** None where one of the readings conforms, else what is said against the last one. */
function firstAllowed(
  candidates: readonly unknown[],
  schema: unknown,
  conformity: Conformity,
): readonly string[] {
  const said = candidates.map((candidate) => conformity(schema ?? {}, candidate))
  return said.some((phrases) => phrases.length === 0) ? [] : (said.at(-1) ?? [])
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
