import { createHash } from 'node:crypto'
import type { FileChange } from '../../domain/commit/change.ts'
import type { DocumentChoice } from '../../domain/edit/choose-document.ts'
import { requireValuesRoom, type FieldEdit } from '../../domain/edit/edit-text.ts'
import { EDIT_LIMIT } from '../../domain/edit/refusal.ts'
import { requestedField } from '../../domain/field-path/field-bytes.ts'
import { parseFieldPath } from '../../domain/field-path/field-path.ts'
import { jsonNode, weightOf, type JSONNode } from '../../domain/manifest/json-node.ts'
import type { FieldChange } from '../../domain/spec/spec.ts'
import type { Entry, Means, Place } from './source.ts'

/** `set`: fields of the file that is there; an edit, which waits until the writer knows that file. */
export function fromSet(
  { field, file: { path, set } }: Entry,
  { objects, setFields, room }: Means,
): Promise<FileChange> | undefined {
  let keeps = 0

  function keep(value: JSONNode): JSONNode {
    const weight = weightOf(value, EDIT_LIMIT)
    keeps += weight
    requireValuesRoom(keeps, path)
    room.take(weight)
    return value
  }

  async function valueOf({ value, valueFrom }: FieldChange, i: number): Promise<JSONNode> {
    if (valueFrom === undefined) return keep(jsonNode(value))
    const { resourceRef } = valueFrom
    const part = parseFieldPath(resourceRef.field)
    const place: Place = { field: `${field}.set[${i}].valueFrom.resourceRef`, reference: resourceRef }
    return objects.read(place, (object, requested) => {
      room.check()
      // A copy: a part of the object's text would keep all of it in memory.
      return structuredClone(keep(requestedField(object, requested, part)))
    })
  }

  async function readEdit(changes: readonly FieldChange[]): Promise<FileChange> {
    const edits = await Promise.all(
      changes.map(async (change, i) => editOf(change, await valueOf(change, i))),
    )
    return { path, edit: onceForEach((before) => setFields(before, { filePath: path, set: edits })), keeps }
  }

  return set && readEdit(set)
}

/**
 * Remembers the last edit: after a lost race or a refused neighbour the file is mostly the same, and a large one takes
 * seconds to be edited.
 */
function onceForEach(edit: (before: Uint8Array) => Promise<Uint8Array>): typeof edit {
  let last: { readonly name: string; readonly after: Promise<Uint8Array> } | undefined
  return function editOnce(before) {
    const name = createHash('sha256').update(before).digest('base64')
    if (last?.name === name) return last.after
    const after = edit(before)
    last = { name, after }
    // What has failed for want of time or memory may not fail again.
    after.catch(() => (last = undefined))
    return after
  }
}

function editOf({ field, mustExist = false, document }: FieldChange, value: JSONNode): FieldEdit {
  const choice = document && choiceOf(document)
  return {
    field: parseFieldPath(field),
    value,
    mustExist,
    ...(choice === undefined ? {} : { document: choice }),
  }
}

function choiceOf({ index, field, value }: FieldChange['document'] & object): DocumentChoice | undefined {
  if (field === undefined || value === undefined) return index
  return { field: parseFieldPath(field), value }
}
