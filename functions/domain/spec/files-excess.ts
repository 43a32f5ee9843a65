import { fieldError, type FieldError } from '../field-error.ts'
import { elements, member, textMember } from '../json-value.ts'

/** Maximum bytes of all texts in `content` and in the values of `set`, keys included. */
const TEXT_BYTES = 256 * 1024
/** Maximum values in the values of `set`, nested ones included, and their nesting. */
const VALUES = 10_000
const DEPTH = 64
/** Maximum entries, as in the schema: no rule looks at more. */
const ENTRIES = 100
/** Maximum changes of all entries, and folders in all paths. */
const CHANGES = 1_000
const FOLDERS = 5_000
/** Maximum characters of all paths of fields: each takes longer to be read than a text. */
const FIELD_CHARACTERS = 256 * 1024

interface Tally {
  bytes: number
  values: number
  depth: number
  changes: number
  folders: number
  fields: number
}

/**
 * The error of a GitCommit whose `files` hold more than is looked at, undefined if they do not: a parser has to be done
 * with all of it within some milliseconds, whoever sends it. Stops at the limit.
 */
export function filesExcess(spec: unknown): FieldError | undefined {
  const tally = { bytes: 0, values: 0, depth: 0, changes: 0, folders: 0, fields: 0 }
  for (const file of elements(member(spec, 'files')).slice(0, ENTRIES)) {
    const content = member(file, 'content')
    if (typeof content === 'string') tally.bytes += Buffer.byteLength(content)
    tally.folders += (textMember(file, 'path') ?? '').slice(0, FOLDERS).split('/').length - 1
    const set = elements(member(file, 'set'))
    tally.changes += set.length
    tally.fields += fieldLength(member(file, 'resourceRef'))
    for (const change of set.slice(0, CHANGES)) {
      const document = member(change, 'document')
      const reference = member(member(change, 'valueFrom'), 'resourceRef')
      tally.fields += fieldLength(change) + fieldLength(document) + fieldLength(reference)
      tally.bytes += Buffer.byteLength(textMember(document, 'value') ?? '')
      add(member(change, 'value'), tally)
    }
    const complaint = complaintOf(tally)
    if (complaint !== undefined) return fieldError('spec.files', complaint)
  }
  return undefined
}

function fieldLength(holder: unknown): number {
  return textMember(holder, 'field')?.length ?? 0
}

function complaintOf({ bytes, values, depth, changes, folders, fields }: Tally): string | undefined {
  if (changes > CHANGES)
    return `has more than the ${CHANGES.toLocaleString('en-GB')} changes that are allowed in set; divide it into several resources.`
  if (folders > FOLDERS)
    return `has paths with more than ${FOLDERS.toLocaleString('en-GB')} folders together, which are allowed; divide it into several resources.`
  if (fields > FIELD_CHARACTERS)
    return `has paths of fields with more than the ${FIELD_CHARACTERS} characters that are allowed together; divide it into several resources.`
  if (bytes > TEXT_BYTES)
    return `has more than the ${TEXT_BYTES} bytes of content and values that are allowed; commit some of it from ConfigMaps.`
  if (values > VALUES)
    return `has more than the ${VALUES.toLocaleString('en-GB')} values that are allowed in set; take some from ConfigMaps.`
  if (depth <= DEPTH) return undefined
  return `has a value that is nested deeper than the ${DEPTH} levels that are allowed; take it from a ConfigMap.`
}

// Does not recurse: no depth can crash it.
function add(value: unknown, tally: Tally): void {
  const open: (readonly [unknown, number])[] = [[value, 0]]
  for (let next = open.pop(); next !== undefined && complaintOf(tally) === undefined; next = open.pop()) {
    const [one, depth] = next
    tally.values += 1
    tally.depth = Math.max(tally.depth, depth)
    if (typeof one === 'string') tally.bytes += Buffer.byteLength(one)
    if (typeof one !== 'object' || one === null) continue
    // Their number alone is enough where there are too many.
    if (Array.isArray(one)) tally.values += one.length > VALUES ? one.length : 0
    if (complaintOf(tally) === undefined) addMembers(one, depth + 1, { open, tally })
  }
}

function addMembers(
  container: object,
  depth: number,
  { open, tally }: { readonly open: (readonly [unknown, number])[]; readonly tally: Tally },
): void {
  if (Array.isArray(container)) {
    for (const item of elements(container)) open.push([item, depth])
    return
  }
  for (const key in container) {
    if (open.length > VALUES) tally.values += VALUES
    if (tally.values > VALUES) return
    tally.bytes += Buffer.byteLength(key)
    open.push([Reflect.get(container, key), depth])
  }
}
