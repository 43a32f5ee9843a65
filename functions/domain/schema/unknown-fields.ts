import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { elements, isRecord } from '../json-value.ts'
import type { Schema } from './schema.ts'

/** Most faults of one resource: enough to name what a newer release has added. */
const MOST = 10
/** What is repeated of a name: an identifier in camelCase. Anything else may be a secret at the wrong place. */
const PLAIN = /^[a-z][A-Za-z0-9]{0,62}$/

/**
 * The fields that the schema does not know, at any depth and within the items of lists, at most 10. CRDs are upgraded
 * first, so that a newer release may have added them: a part that does not know a field never carries out the rest
 * without it. The right release may come, so the fault is looked at again (`slow`).
 */
export function unknownFields(value: unknown, schema: Schema, path: string): readonly FieldError[] {
  if (schema.items !== undefined) return unknownInItems(value, schema.items, { path, most: schema.maxItems })
  const { properties } = schema
  if (properties === undefined || !isRecord(value)) return []
  const found: FieldError[] = []
  for (const name of Object.keys(value)) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (known === undefined) found.push(unknownField(path, name))
    else found.push(...unknownFields(value[name], known, `${path}.${name}`))
    if (found.length >= MOST) break
  }
  return found.slice(0, MOST)
}

function unknownInItems(
  value: unknown,
  items: Schema,
  { path, most = Infinity }: { readonly path: string; readonly most: number | undefined },
): readonly FieldError[] {
  const found: FieldError[] = []
  for (const [index, item] of elements(value).slice(0, most).entries()) {
    found.push(...unknownFields(item, items, `${path}[${index}]`))
    if (found.length >= MOST) break
  }
  return found.slice(0, MOST)
}

function unknownField(path: string, name: string): FieldError {
  const advice = 'leave it out, or ask whoever runs Commitlet to upgrade it.'
  const about = PLAIN.test(name)
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
  return { ...about, retry: 'slow' }
}
