import { Failure } from '../failure.ts'
import { boundedText } from '../manifest/bounded-text.ts'
import type { JSONNode, Mapping } from '../manifest/json-node.ts'
import { writeJSON } from '../manifest/json-text.ts'
import { MANIFEST_LIMIT, type RequestedObject } from '../manifest/manifest.ts'
import { writeYAML } from '../manifest/yaml-text.ts'
import type { FieldPath } from './field-path.ts'
import { missingFieldFailure, readField } from './read-field.ts'

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** One field of an object, and the file that it becomes. */
export interface RequestedField {
  readonly field: FieldPath
  /** Of the file: its ending decides between YAML and JSON. */
  readonly path: string
}

/**
 * The bytes to commit for one field of an object that `readRequested` has read: a text as it is, a value below
 * `binaryData` of a ConfigMap decoded, any other value as YAML, or as JSON if the path ends in `.json`. Failures:
 * ReferenceNotFound for a field that is not there, and those of `fieldBytes`.
 */
export function renderField(object: Mapping, requested: RequestedObject, file: RequestedField): Uint8Array {
  const value = requestedField(object, requested, file.field)
  return fieldBytes(value, file.path, isBinary(requested, file.field))
}

/** The value of one field of such an object; ReferenceNotFound if it is not there. */
export function requestedField(object: Mapping, requested: RequestedObject, field: FieldPath): JSONNode {
  const lookup = readField(object, field)
  if (lookup.found) return lookup.value
  throw missingFieldFailure(field, lookup, `${requested.kind} ${requested.name}`)
}

/**
 * A text as its bytes, decoded if it is `base64`; any other value as YAML, or as JSON if the path ends in `.json`.
 * Failure: NotSupported for more than 10 MiB, or what is not base64.
 */
export function fieldBytes(value: JSONNode, filePath: string, base64 = false): Uint8Array {
  const { write, bytes } = boundedText(MANIFEST_LIMIT, tooLarge)
  if (typeof value === 'string' && base64) return decoded(value)
  if (typeof value === 'string') write(value)
  else if (filePath.toLowerCase().endsWith('.json')) writeJSON(value, write)
  else writeYAML(value, write)
  return bytes()
}

function isBinary({ apiVersion, kind }: RequestedObject, { steps: [first, ...rest] }: FieldPath): boolean {
  const isConfigMap = apiVersion === 'v1' && kind === 'ConfigMap'
  return isConfigMap && first?.kind === 'key' && first.key === 'binaryData' && rest.length === 1
}

function decoded(value: string): Uint8Array {
  if (value.length % 4 === 0 && BASE64.test(value)) return Buffer.from(value, 'base64')
  throw new Failure(
    'NotSupported',
    'The value of the field is not base64, as binaryData has to be; fix the object.',
  )
}

function tooLarge(): Failure {
  const limit = `${MANIFEST_LIMIT / (1024 * 1024)} MiB`
  return new Failure(
    'NotSupported',
    `The value of the field takes more than ${limit}, which is the limit; refer to a smaller one.`,
  )
}
