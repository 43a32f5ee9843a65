import type { FileChange } from '../../domain/commit/change.ts'
import { renderField } from '../../domain/field-path/field-bytes.ts'
import { parseFieldPath } from '../../domain/field-path/field-path.ts'
import { manifestBytes } from '../../domain/manifest/manifest.ts'
import type { FieldReference } from '../../domain/spec/spec.ts'
import type { Entry, Means, Place } from './source.ts'

/** `resourceRef`: the manifest of an object, or one field of it. */
export function fromObject(
  { field, file: { path, resourceRef } }: Entry,
  means: Means,
): Promise<FileChange> | undefined {
  return resourceRef && readInto(path, { field: `${field}.resourceRef`, reference: resourceRef }, means)
}

async function readInto(
  path: string,
  place: Place & { readonly reference: FieldReference },
  { objects, room }: Means,
): Promise<FileChange> {
  const { field } = place.reference
  const part = field === undefined ? undefined : parseFieldPath(field)
  const content = await objects.read(place, (object, requested) => {
    room.check()
    const bytes =
      part === undefined
        ? manifestBytes(object, requested, path)
        : renderField(object, requested, { field: part, path })
    room.take(bytes.length)
    return bytes
  })
  return { path, content }
}
