import { isRecord } from '../json-value.ts'
import { isLonger } from './bounds.ts'
import type { Schema } from './schema.ts'

/**
 * What somebody has written of a T, of unknown soundness, for rules that look at what they can use: `undefined` is a
 * field that is not written, `null` one that is, and is of another type or too long. A text need not fit its pattern.
 * Of a list there are at most as many entries as its schema allows; of an object, the fields that its schema knows.
 */
export type Draft<T> = T extends string | boolean
  ? T
  : T extends readonly (infer E)[]
    ? readonly (Draft<E> | null)[]
    : { readonly [K in keyof T]?: Draft<NonNullable<T[K]>> | null | undefined }

/** The draft of a T, whose schema this is; undefined where the value is no object. */
export function draftOf<T>(value: unknown, schema: Schema): Draft<T> | undefined {
  const draft = usable(value, schema)
  return isDraft<T>(draft) ? draft : undefined
}

// The types of resource.ts say what the schemas say.
function isDraft<T>(value: unknown): value is Draft<T> {
  return isRecord(value)
}

/** The value as far as its type and length are those of the schema; null where they are not. */
export function usable(value: unknown, schema: Schema): unknown {
  const { type, items, properties = {}, maxItems, maxLength = Infinity } = schema
  if (type === 'string') return typeof value === 'string' && !isLonger(value, maxLength) ? value : null
  if (type === 'boolean') return typeof value === 'boolean' ? value : null
  if (type === 'integer') return Number.isInteger(value) ? value : null
  if (type === 'array') {
    if (!Array.isArray(value) || items === undefined) return null
    return value.slice(0, maxItems).map((item) => usable(item, items))
  }
  if (!isRecord(value)) return null
  const written = Object.entries(properties).filter(([name]) => isWritten(value, name))
  return Object.fromEntries(written.map(([name, property]) => [name, usable(value[name], property)]))
}

// Own fields only: no input can speak through Object.prototype.
function isWritten(value: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined
}
