import { looksLikeCredential } from '../credential-text.ts'
import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { elements, isRecord, member, textMember } from '../json-value.ts'
import { REQUESTED_AT } from '../resource/api-names.ts'
import { isLonger } from './bounds.ts'
import type { Schema } from '../crd/schema.ts'

const ADVICE =
  'contains what looks like a token or a private key; leave it out, revoke it, because it has been sent to the cluster, and name a Secret in spec.credentials instead.'

/** Characters of a text that is too long: more than any field has that is short. */
const BEGINNING = 4_096

/**
 * The fields of the schema, at any depth, that contain what looks like a credential. The errors name the field and never
 * the value. Of a text that is too long, the beginning is searched.
 */
export function credentialErrors(value: unknown, schema: Schema, path: string): readonly FieldError[] {
  const { type, items, properties = {}, maxItems, maxLength = Infinity } = schema
  if (type === undefined) return holdsCredential(value) ? [credentialError(path)] : []
  if (typeof value === 'string')
    return looksLikeCredential(isLonger(value, maxLength) ? value.slice(0, BEGINNING) : value)
      ? [credentialError(path)]
      : []
  if (items !== undefined)
    return elements(value)
      .slice(0, maxItems)
      .flatMap((item, index) => credentialErrors(item, items, `${path}[${index}]`))
  if (!isRecord(value)) return []
  return Object.entries(properties).flatMap(([name, property]) =>
    Object.hasOwn(value, name) ? credentialErrors(value[name], property, `${path}.${name}`) : [],
  )
}

/** Whether a text or a key of this JSON value, at any depth, is what looks like a credential. Does not recurse. */
export function holdsCredential(value: unknown): boolean {
  const open = [value]
  while (open.length > 0) {
    const one = open.pop()
    if (typeof one === 'string' && looksLikeCredential(one)) return true
    if (Array.isArray(one)) for (const item of elements(one)) open.push(item)
    else if (isRecord(one)) for (const [key, member] of Object.entries(one)) open.push(key, member)
  }
  return false
}

/**
 * The same for the metadata that Commitlet repeats: the name of the resource, and `commitlet.dev/requested-at`, which
 * the status stores. The API server asks before it looks at their lengths; of what is too long, the beginning is searched.
 */
export function metadataCredentialErrors(object: unknown): readonly FieldError[] {
  const metadata = member(object, 'metadata')
  const requestedAt = textMember(member(metadata, 'annotations'), REQUESTED_AT)
  const found = [
    ['metadata.name', textMember(metadata, 'name')],
    ['metadata.generateName', textMember(metadata, 'generateName')],
    [`metadata.annotations[${REQUESTED_AT}]`, requestedAt],
  ] as const
  return found.flatMap(([field, text = '']) =>
    looksLikeCredential(text.slice(0, BEGINNING)) ? [credentialError(field)] : [],
  )
}

/** Whether this is an error of these functions. */
export function isCredentialError(error: FieldError): boolean {
  return error.message === credentialError(error.field).message
}

function credentialError(field: string): FieldError {
  return fieldError(field, ADVICE)
}
