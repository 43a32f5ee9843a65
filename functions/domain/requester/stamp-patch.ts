import { member } from '../json-value.ts'
import type { Stamp } from './stamp.ts'

/** One operation of a JSON Patch (RFC 6902). */
export type PatchOperation =
  | { readonly op: 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }

/** Annotations of a resource; `null` or absent if it has none. */
export type Annotations = Readonly<Record<string, unknown>> | null | undefined

/** The smallest JSON Patch that adds the stamp to the annotations sent; empty if they have it already. */
export function stampPatch(sent: Annotations, stamp: Stamp): readonly PatchOperation[] {
  const wanted = Object.entries(stamp)
  if (sent === undefined || sent === null) {
    const value = Object.fromEntries(wanted.filter(([, text]) => text !== undefined))
    return Object.keys(value).length === 0 ? [] : [{ op: 'add', path: '/metadata/annotations', value }]
  }
  return wanted.flatMap(([key, text]): PatchOperation[] => {
    const path = `/metadata/annotations/${escapePointer(key)}`
    if (text !== undefined) return member(sent, key) === text ? [] : [{ op: 'add', path, value: text }]
    return Object.hasOwn(sent, key) ? [{ op: 'remove', path }] : []
  })
}

// RFC 6901: `~` first, or the `~` of `~1` would be escaped again.
function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
