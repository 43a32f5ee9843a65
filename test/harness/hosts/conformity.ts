import { Ajv } from 'ajv'
import type { ErrorObject, ValidateFunction } from 'ajv'
import { elements, entries, isRecord, member } from '../../../functions/domain/member.ts'

/** What a schema says against a value, one phrase each: `/title must be string`. None: it conforms. */
export type Conformity = (schema: unknown, value: unknown) => readonly string[]

/**
 * Reads the schemas of a document, which may refer to one another, as its dialect means them: `nullable` of
 * OpenAPI 3.0 and `x-nullable` of Swagger 2 admit null; a word that JSON Schema does not know asks for nothing,
 * nor does `format`.
 */
export function conformityTo(document: unknown): Conformity {
  const ajv = new Ajv({
    allErrors: true,
    strict: false,
    validateFormats: false,
    validateSchema: false,
    unicodeRegExp: false,
    logger: false,
  })
  const shared = { components: member(document, 'components'), definitions: member(document, 'definitions') }
  const known = entries(inJSONSchema(shared)).filter(([, part]) => part !== undefined)
  const compiled = new Map<unknown, ValidateFunction>()

  return function objections(schema, value) {
    const validate = compiled.get(schema) ?? ajv.compile(whole(schema))
    compiled.set(schema, validate)
    return validate(value) ? [] : phrases(validate.errors ?? [])
  }

  function whole(schema: unknown): object {
    const own = inJSONSchema(schema)
    return { ...Object.fromEntries(known), ...(isRecord(own) ? own : {}) }
  }
}

function inJSONSchema(value: unknown): unknown {
  if (Array.isArray(value)) return elements(value).map(inJSONSchema)
  if (!isRecord(value)) return value
  const { nullable, 'x-nullable': nullableToo, ...rest } = value
  const parts = Object.fromEntries(entries(rest).map(([key, part]) => [key, inJSONSchema(part)]))
  return nullable === true || nullableToo === true ? orNull(parts) : parts
}

/** Without a type of its own a schema stands beside the null, because `$ref` and `allOf` would refuse it within. */
function orNull(schema: Readonly<Record<string, unknown>>): object {
  const { type, enum: values } = schema
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] }
  const listed = values === undefined ? {} : { enum: [...elements(values), null] }
  return { ...schema, ...listed, type: [type, 'null'] }
}

function phrases(errors: readonly ErrorObject[]): readonly string[] {
  return [...new Set(errors.map(phrase))]
}

function phrase({ instancePath, message = 'is wrong', params }: ErrorObject): string {
  const allowed = member(params, 'allowedValues')
  const list = allowed === undefined ? '' : ` (${elements(allowed).join(', ')})`
  return `${instancePath} ${message}${list}`.trim()
}
