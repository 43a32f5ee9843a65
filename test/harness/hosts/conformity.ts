import { Ajv } from 'ajv'
import type { ErrorObject, ValidateFunction } from 'ajv'
import { elements, member } from '../../../functions/domain/json-value.ts'
import type { Schema } from './field-types.ts'

const AJV = new Ajv({ allErrors: true, strict: false, code: { optimize: false } })

/** By the text of the schema: each stand-in makes its own, and most are alike. */
const compiled = new Map<string, ValidateFunction>()

/** The violations of a schema by a value, one phrase each: `/title must be string`. Empty: it conforms. */
export function objectionsTo(value: unknown, schema: Schema): readonly string[] {
  const text = JSON.stringify(schema)
  const validate = compiled.get(text) ?? AJV.compile(schema)
  compiled.set(text, validate)
  return validate(value) ? [] : phrases(validate.errors ?? [])
}

function phrases(errors: readonly ErrorObject[]): readonly string[] {
  return [...new Set(errors.map(phrase))]
}

function phrase({ instancePath, message = 'is wrong', params }: ErrorObject): string {
  const allowed = member(params, 'allowedValues')
  const list = allowed === undefined ? '' : ` (${elements(allowed).join(', ')})`
  return `${instancePath} ${message}${list}`.trim()
}
