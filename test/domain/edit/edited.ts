import { editText, type FieldEdit } from '../../../functions/domain/edit/edit-text.ts'
import { parseFieldPath } from '../../../functions/domain/field-path/field-path.ts'
import { parseJSONText } from '../../../functions/domain/manifest/json-text.ts'

/** Paths of fields and the values that they get. */
export type Sets = readonly (readonly [field: string, value: unknown])[]

/** What else an edit says; by default the file is `values.yaml`. */
export type EditOptions = Pick<FieldEdit, 'mustExist' | 'document'> & { readonly filePath?: string }

/** The text with the fields set. */
export function edited(
  text: string,
  sets: Sets,
  { filePath = 'values.yaml', ...options }: EditOptions = {},
): string {
  const set = sets.map(([field, value]) => ({
    field: parseFieldPath(field),
    value: parseJSONText(JSON.stringify(value)),
    ...options,
  }))
  const bytes = editText(Buffer.from(text), { filePath, set })
  return Buffer.from(bytes).toString()
}

/** The lines that differ: those that went with `-`, those that came with `+`. */
export function changedLines(before: string, after: string): readonly string[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1
  const gone = a.slice(start, a.length - end).map((line) => `-${line}`)
  return [...gone, ...b.slice(start, b.length - end).map((line) => `+${line}`)]
}
