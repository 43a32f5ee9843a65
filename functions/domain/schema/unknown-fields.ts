import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { elements, isRecord } from '../json-value.ts'
import type { Schema } from '../crd/schema.ts'

/** Maximum number of errors for one resource: enough to name the fields that a newer release has added. */
const MAX_ERRORS = 10
/** The names that messages repeat: short words in camelCase. A secret in the wrong place is longer, or has digits. */
const CAMEL_CASE = /^[a-z][A-Za-z]{0,30}$/

/**
 * The fields that the schema does not know, at any depth and also in the items of lists, at most 10. CRDs are upgraded
 * first, so a newer release may have added them. A component that does not know a field never processes the rest
 * without it. Because an upgrade of the component may follow, the error is retried (`slow`).
 */
export function unknownFields(value: unknown, schema: Schema, path: string): readonly FieldError[] {
  if (schema.items !== undefined)
    return unknownInItems(value, schema.items, { path, maxItems: schema.maxItems })
  const { properties } = schema
  if (properties === undefined || !isRecord(value)) return []
  const fieldErrors: FieldError[] = []
  for (const name of Object.keys(value)) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (known === undefined) fieldErrors.push(unknownField(path, name, Object.keys(properties)))
    else fieldErrors.push(...unknownFields(value[name], known, `${path}.${name}`))
    if (fieldErrors.length >= MAX_ERRORS) break
  }
  return fieldErrors.slice(0, MAX_ERRORS)
}

function unknownInItems(
  value: unknown,
  items: Schema,
  { path, maxItems = Infinity }: { readonly path: string; readonly maxItems: number | undefined },
): readonly FieldError[] {
  const fieldErrors: FieldError[] = []
  for (const [index, item] of elements(value).slice(0, maxItems).entries()) {
    fieldErrors.push(...unknownFields(item, items, `${path}[${index}]`))
    if (fieldErrors.length >= MAX_ERRORS) break
  }
  return fieldErrors.slice(0, MAX_ERRORS)
}

function unknownField(path: string, name: string, known: readonly string[]): FieldError {
  const lower = name.toLowerCase()
  const meant = known.find((field) => field.toLowerCase() === lower)
  const advice =
    meant === undefined
      ? 'leave it out, or ask your Commitlet operator to upgrade it.'
      : `write ${meant} instead.`
  const error = CAMEL_CASE.test(name)
    ? fieldError(
        `${path}.${name}`,
        `is not supported by this release of Commitlet; ${advice}`,
        'NotSupported',
      )
    : fieldError(
        path,
        `has a field whose name is not supported by this release of Commitlet; ${advice}`,
        'NotSupported',
      )
  return { ...error, retry: 'slow' }
}
