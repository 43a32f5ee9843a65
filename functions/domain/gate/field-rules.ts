import type { WrittenReference } from '../commit/references.ts'
import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { fieldPathComplaint } from '../field-path/field-path.ts'
import type { DocumentChoice, FieldChange } from '../spec/spec.ts'
import type { Draft } from '../schema/draft.ts'

/** The errors in a reference that its own text shows. */
export function referenceErrors({ field, reference }: WrittenReference): readonly FieldError[] {
  // The core group has no other kind of this name in any letter case.
  const isSecret = reference.apiVersion === 'v1' && /^secrets?$/i.test(reference.kind ?? '')
  const secret = isSecret
    ? [
        fieldError(
          `${field}.kind`,
          'is Secret, which is never committed in clear text; refer to another kind.',
        ),
      ]
    : []
  return [...secret, ...pathErrors(`${field}.field`, reference.field)]
}

/** The errors in `set` of a file. */
export function changeErrors(
  changes: Draft<readonly FieldChange[]> | null | undefined,
  file: string,
): readonly FieldError[] {
  return (changes ?? []).flatMap((change, i) =>
    change === null ? [] : errorsOf(change, `${file}.set[${i}]`),
  )
}

function errorsOf(change: Draft<FieldChange>, field: string): readonly FieldError[] {
  return [
    ...pathErrors(`${field}.field`, change.field),
    ...valueErrors(change, field),
    ...documentErrors(change.document, `${field}.document`),
  ]
}

function valueErrors({ value, valueFrom }: Draft<FieldChange>, field: string): readonly FieldError[] {
  if (value === undefined && valueFrom === undefined)
    return [fieldError(field, 'has no new value; set value or valueFrom.')]
  if (value !== undefined && valueFrom !== undefined)
    return [fieldError(`${field}.valueFrom`, 'is set together with value; set only one of them.')]
  if (!holdsInexactNumber(value)) return []
  const complaint =
    'has a whole number of more than 53 bits, whose digits would be lost; write it as a string.'
  return [fieldError(`${field}.value`, complaint)]
}

/** Whether a number of this JSON value, at any depth, may have lost digits. Does not recurse. */
function holdsInexactNumber(value: unknown): boolean {
  const open = [value]
  while (open.length > 0) {
    const one = open.pop()
    if (typeof one === 'number' && Math.abs(one) > Number.MAX_SAFE_INTEGER) return true
    if (typeof one === 'object' && one !== null) for (const inner of Object.values(one)) open.push(inner)
  }
  return false
}

function documentErrors(
  document: Draft<DocumentChoice> | null | undefined,
  field: string,
): readonly FieldError[] {
  if (document === undefined || document === null) return []
  const byField = document.field !== undefined || document.value !== undefined
  if (document.index !== undefined && byField)
    return [fieldError(`${field}.index`, 'is set together with field or value; set only one of them.')]
  const isWhole = document.field !== undefined && document.value !== undefined
  if (document.index === undefined && !isWhole)
    return [fieldError(field, 'has to have either index, or field and value.')]
  return pathErrors(`${field}.field`, document.field)
}

function pathErrors(field: string, path: string | null | undefined): readonly FieldError[] {
  const complaint = path === undefined || path === null || path === '' ? undefined : fieldPathComplaint(path)
  return complaint === undefined ? [] : [fieldError(field, complaint)]
}
