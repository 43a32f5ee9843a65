import { looksLikeCredential } from '../credential-text.ts'
import { holdsCredential } from './credential-errors.ts'
import { isRecord } from '../json-value.ts'
import { isLonger } from './bounds.ts'
import type { Schema } from '../crd/schema.ts'

/**
 * A T as a user wrote it, possibly with errors, for rules that check the parts they can use: `undefined` is a field
 * that is not set, `null` a field of another type, of too great length, or with what looks like a
 * credential. A string need not match its pattern. A list has
 * at most as many entries as its schema allows, an object only the fields of its schema. A value of any type is as it is.
 */
export type Draft<T> = T extends string | boolean | number
  ? T
  : T extends readonly (infer E)[]
    ? readonly (Draft<E> | null)[]
    : {
        readonly [K in keyof T]?: unknown extends T[K] ? unknown : Draft<NonNullable<T[K]>> | null | undefined
      }

/** The value as a draft of a T with this schema; undefined if the value is not an object. */
export function draftOf<T>(value: unknown, schema: Schema): Draft<T> | undefined {
  const draft = usable(value, schema)
  return isDraft<T>(draft) ? draft : undefined
}

// The types in resource.ts match the schemas.
function isDraft<T>(value: unknown): value is Draft<T> {
  return isRecord(value)
}

/** The parts of the value that can be read, as in a draft; null in place of the other parts. */
export function usable(value: unknown, schema: Schema): unknown {
  const { type, items, properties = {}, maxItems, maxLength = Infinity } = schema
  if (type === 'string') return isUsableText(value, maxLength) ? value : null
  if (type === undefined) return holdsCredential(value) ? null : value
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

// No rule sees what looks like a credential: a message of one could repeat it.
function isUsableText(value: unknown, maxLength: number): boolean {
  return typeof value === 'string' && !isLonger(value, maxLength) && !looksLikeCredential(value)
}

// Own fields only: nothing is read from Object.prototype.
function isWritten(value: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined
}
