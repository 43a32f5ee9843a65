import type { ObjectKind } from './object.ts'

/** The first bytes of every pack: `PACK`, version 2 (gitformat-pack(5)). */
export const MAGIC = Buffer.from('PACK\0\0\0\x02', 'latin1')

/** The magic bytes and the number of objects. */
export const HEADER_BYTES = 12

/** The SHA-1 of everything before it. */
export const TRAILER_BYTES = 20

/** The type of a delta whose base is a number of bytes before it in the pack. */
export const OFS_DELTA = 6

/** The type of a delta whose base has an id. */
export const REF_DELTA = 7

/** The types of whole objects. */
export const TYPES = { commit: 1, tree: 2, blob: 3, tag: 4 } as const satisfies Record<ObjectKind, number>

/** The kind of a whole object; undefined: it is a delta, or no type at all. */
export function kindOfType(type: number): ObjectKind | undefined {
  return ([undefined, 'commit', 'tree', 'blob', 'tag'] as const)[type]
}
