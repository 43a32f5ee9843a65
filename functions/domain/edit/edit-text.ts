import { Failure } from '../failure.ts'
import { weightOf } from '../manifest/json-node.ts'
import { chooseDocument, type DocumentChoice } from './choose-document.ts'
import { cannotBeMade, makeRound, requireOnlyThis, type Reading, type Setting } from './edit-round.ts'
import type { Format } from './flow-change.ts'
import { readJSON } from './json-tree.ts'
import type { FieldValue } from './one-change.ts'
import { EDIT_LIMIT, refusalsOf, requireSize, type Refuse } from './refusal.ts'
import { readYAML } from './yaml-tree.ts'

const MEBIBYTE = 1024 * 1024
/** Maximum rounds of an edit: fields that depend on each other need more than one. */
export const ROUNDS_LIMIT = 16

/** Bytes that take less than 100 ms to be edited, in one round, whatever they hold. */
export const YAML_AT_ONCE = 12 * 1024
export const JSON_AT_ONCE = 256 * 1024
/** Looks for a field in such YAML. */
const YAML_LOOKS_AT_ONCE = 100
/** Bytes of JSON for each field: each costs a look at the whole text. */
const JSON_LOOKS_AT_ONCE = 4 * MEBIBYTE

/**
 * Whether a text of this size may be read, and its fields set, in the thread that answers requests. More belongs into a
 * thread that can be ended: 2 MiB of YAML take some 5 s and 200 MB, 1,000 fields of 2 MiB of JSON 2 s.
 */
export function isReadAtOnce({ filePath, set }: TextEdit, size: number): boolean {
  // The field by which a document is chosen is looked for as well.
  const looks = set.length + set.filter(({ document }) => typeof document === 'object').length
  if (formatOf(filePath) === 'yaml') return size <= YAML_AT_ONCE && looks <= YAML_LOOKS_AT_ONCE
  return size <= JSON_AT_ONCE && size * looks <= JSON_LOOKS_AT_ONCE
}

/** Fields of a YAML or JSON file to set, one after the other. */
export interface TextEdit {
  /** Its ending decides: JSON for `.json`, else YAML. */
  readonly filePath: string
  readonly set: readonly FieldEdit[]
}

/** A field to set. */
export interface FieldEdit extends FieldValue {
  readonly mustExist?: boolean
  /** Which document of the file as it is. Default: its only one. */
  readonly document?: DocumentChoice
}

/**
 * The file that was read last, for the edits of one thread: the next one is often of what the last one has made, and to read it
 * takes half of the time.
 */
export interface KeptReading {
  latest?: { readonly format: Format; readonly reading: Reading } | undefined
}

/**
 * The file with the fields set. Only the lines of these fields change: comments, order, quotes, anchors, line ends, a
 * byte order mark and other documents stay as they are. A field that is not there is created where its parent is a
 * mapping. The result is read again: it is the tree before with exactly these changes. Failures: PathConflict for a file
 * that is not YAML or JSON, or where the field cannot be set; NotSupported for more than 2 MiB, too many values, too deep
 * nesting, more than 16 rounds, and changes that cannot be made in place. No message holds a value. `kept`: of the edit before.
 */
export function editText(bytes: Uint8Array, edit: TextEdit, kept?: KeptReading): Uint8Array {
  const steps = editSteps(bytes, edit, kept)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/**
 * The same, step by step: yields how many bytes it reads in the next step, which is the longest part of it. The first time
 * the values count, too, and alone where `kept` has the file.
 */
export function* editSteps(
  bytes: Uint8Array,
  edit: TextEdit,
  kept: KeptReading = {},
): Generator<number, Uint8Array> {
  const { filePath, set } = edit
  const refuse = refusalsOf(filePath)
  const format = formatOf(filePath)
  const whole = decoded(bytes, refuse)
  const mark = whole.startsWith('\ufeff') ? '\ufeff' : ''
  const text = whole.slice(mark.length)
  const known = keptOf(kept, text, format)
  // Two files take twice the memory.
  if (known === undefined) delete kept.latest
  yield editWeight(bytes, edit) - (known === undefined ? 0 : bytes.length)
  let reading = known ?? read(text, format, refuse)
  kept.latest = { format, reading }
  const { documents } = reading
  let left = set.map((one) => ({ ...one, index: chooseDocument(documents, one.document, refuse) }))
  for (let rounds = 1; left.length > 0; rounds += 1) {
    if (rounds > ROUNDS_LIMIT) throw tooManyRounds(refuse)
    const round = makeRound(reading, left, { format, refuse })
    left = left.slice(round.done)
    if (round.text === reading.text) continue
    yield Buffer.byteLength(round.text)
    reading = reread(round.text, { format, refuse })
    requireOnlyThis(reading.documents, round, refuse)
  }
  kept.latest = { format, reading }
  return new TextEncoder().encode(`${mark}${reading.text}`)
}

/**
 * The bytes of the file, and what the values take, however small the file is: each is made into text and into a tree. Throws
 * NotSupported for too many values.
 */
export function editWeight(bytes: Uint8Array, { set, filePath }: TextEdit): number {
  let weight = 0
  for (const { value } of set) {
    weight += weightOf(value, EDIT_LIMIT)
    requireValuesRoom(weight, filePath)
  }
  return bytes.length + weight
}

/** Throws NotSupported if the values of one file weigh more than EDIT_LIMIT (see weightOf). */
export function requireValuesRoom(weight: number, filePath: string): void {
  if (weight <= EDIT_LIMIT) return
  const message = `The file ${filePath} gets values in set that take more than ${EDIT_LIMIT / MEBIBYTE} MiB together, which is the limit for setting fields; commit the whole file.`
  throw new Failure('NotSupported', message)
}

function formatOf(filePath: string): Format {
  return filePath.toLowerCase().endsWith('.json') ? 'json' : 'yaml'
}

function decoded(bytes: Uint8Array, refuse: Refuse): string {
  requireSize(bytes.length, refuse)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw refuse('is not text in UTF-8, so no field of it can be set; write it whole.')
  }
}

function keptOf({ latest }: KeptReading, text: string, format: Format): Reading | undefined {
  return latest?.format === format && latest.reading.text === text ? latest.reading : undefined
}

function read(text: string, format: Format, refuse: Refuse): Reading {
  return { text, documents: format === 'json' ? readJSON(text, refuse) : readYAML(text, refuse) }
}

function reread(text: string, { format, refuse }: Setting): Reading {
  requireSize(Buffer.byteLength(text), refuse)
  try {
    return read(text, format, refuse)
  } catch (error) {
    throw error instanceof Failure ? cannotBeMade(refuse) : error
  }
}

function tooManyRounds(refuse: Refuse): Failure {
  const complaint = `is changed in more than ${ROUNDS_LIMIT} steps, because many of the fields in set depend on each other; set the value that holds them all.`
  return refuse(complaint, 'NotSupported')
}
