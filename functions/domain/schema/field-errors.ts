import type { ErrorObject } from 'ajv'
import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { elements, member, textMember } from '../json-value.ts'
import { charactersIn } from './bounds.ts'
import { TYPE_NAMES } from '../crd/schema.ts'

/**
 * Describes an error of ajv (with `verbose`) to the author of a resource: the path of the field, which begins with
 * `root`, and what it has to be, from the schema's `expects`. The value is not repeated: it may be a secret in the
 * wrong field.
 */
export function fieldErrorOf(error: ErrorObject, root: string): FieldError {
  const field = `${root}${error.instancePath}`.replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.')
  const missing = textMember(error.params, 'missingProperty')
  if (missing === undefined) return fieldError(field, `${complaintOf(error)}.`)
  const schema = member(member(error.parentSchema, 'properties'), missing)
  return fieldError(`${field}.${missing}`, `is missing; it has to be ${expected(schema)}.`)
}

function complaintOf({ keyword, data, params, parentSchema }: ErrorObject): string {
  const limit = String(member(parentSchema, keyword))
  if (keyword === 'minLength' || keyword === 'minItems')
    return `is empty; it has to be ${expected(parentSchema)}`
  if (keyword === 'maxLength' && typeof data === 'string')
    return `has ${charactersIn(data)} characters, but at most ${limit} are allowed; make it shorter`
  if (keyword === 'maxItems')
    return `has ${elements(data).length} entries, but at most ${limit} are allowed; leave some out`
  if (keyword === 'uniqueItems') {
    const [first, second] = [Number(params['i']), Number(params['j'])].toSorted((a, b) => a - b)
    return `has the entry [${first}] twice, again as [${second}]; leave one of them out`
  }
  if (keyword === 'type') return `has to be ${expected(parentSchema)}, but is ${shapeOf(data)}`
  return `has to be ${expected(parentSchema)}`
}

function expected(schema: unknown): string {
  const type = member(schema, 'type')
  const shape = Object.entries(TYPE_NAMES).find(([name]) => name === type)?.[1]
  return textMember(schema, 'expects') ?? shape ?? 'what the API server sets'
}

function shapeOf(data: unknown): string {
  if (data === null) return 'null'
  if (Array.isArray(data)) return 'a list'
  if (typeof data === 'string') return 'a string'
  if (typeof data === 'object') return 'an object'
  return typeof data === 'number' ? 'a number' : 'true or false'
}
