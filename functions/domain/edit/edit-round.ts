import { Failure } from '../failure.ts'
import type { Format } from './flow-change.ts'
import { locate, type Place } from './locate.ts'
import { splicesFor, treeWith, type FieldValue } from './one-change.ts'
import { requireSize, type Refuse } from './refusal.ts'
import { areApart, linesOf, splicedText, type Splice } from './splice.ts'
import { sameTree, type Trail, type TreeDocument, type TreeNode } from './tree.ts'

/** A text as it was read. */
export interface Reading {
  readonly text: string
  readonly documents: readonly TreeDocument[]
}

/** A field of one document of a file, and the value that it gets. */
export interface DocumentField extends FieldValue {
  readonly mustExist?: boolean
  /** Number of the document. */
  readonly index: number
}

/** What is the same for all rounds of an edit. */
export interface Setting {
  readonly format: Format
  readonly refuse: Refuse
}

/** What one round makes of a text. */
export interface Round {
  /** Equal to the text before if all fields have their values. */
  readonly text: string
  /** What has to be read from it. */
  readonly expected: readonly TreeNode[]
  /** How many fields it has set. */
  readonly done: number
}

/** A field of this round. */
interface Made extends DocumentField {
  readonly place: Place
  readonly splices: readonly Splice[]
}

/** Sets as many fields as stand apart from each other: each round reads the whole text again. */
export function makeRound(
  { text, documents }: Reading,
  set: readonly DocumentField[],
  { format, refuse }: Setting,
): Round {
  const requireRoom = (size: number): void => requireSize(size, refuse)
  const lines = linesOf(text, requireRoom)
  const expected = documents.map(({ root }) => root)
  const made: Made[] = []
  let written = 0
  for (const one of set) {
    const [document, root] = [documents[one.index], expected[one.index]]
    if (document === undefined || root === undefined || !isIndependent(one, made)) break
    const place = locate(document, one.field, one.mustExist ?? false)
    if (typeof place === 'string' && made.length > 0) break
    if (typeof place === 'string') throw refuse(place)
    const splices = splicesFor(lines, { place, root: document.root, format }, one.value)
    const next = { ...one, place, splices }
    if (!made.every((other) => areSeparate(other, next))) break
    written += splices.reduce((size, splice) => size + splice.text.length, 0)
    requireRoom(written)
    if (splices.length > 0) expected[one.index] = treeWith(root, place, { value: one.value, format })
    made.push(next)
  }
  const all = made.flatMap(({ splices }) => splices)
  return { text: all.length === 0 ? text : splicedText(text, all), expected, done: made.length }
}

/** Whether the place of a field does not depend on those that are set in the same round. */
function isIndependent({ field, index }: DocumentField, made: readonly Made[]): boolean {
  const compared = new Set(field.steps.flatMap((step) => (step.kind === 'match' ? step.keys : [])))
  if (compared.size === 0) return true
  return made.every((other) => {
    const last = other.field.steps.at(-1)
    const { value } = other
    const isSimple = typeof value !== 'object' || value === null || 'digits' in value
    return other.index !== index || (isSimple && last?.kind === 'key' && !compared.has(last.key))
  })
}

/**
 * Whether both may be made in one text. Members that are added to one mapping follow each other, and a line that is added
 * may follow a value that is replaced before it.
 */
function areSeparate(one: Made, other: Made): boolean {
  const isAddedBelow = one.place.kind === 'value' && other.place.kind === 'new'
  if (one.index === other.index && one.place.kind === 'new' && other.place.kind === 'new') {
    const isFirst = one.place.parent.members.length === 0
    const isSimple = !isFirst && one.splices.length === 1 && other.splices.length === 1
    if (isSameTrail(one.place.trail, other.place.trail))
      return isSimple && one.place.name !== other.place.name
  }
  return one.splices.every((splice) =>
    other.splices.every(
      (added) => areApart(splice, added) || (isAddedBelow && splice.end === added.start && isNewLine(added)),
    ),
  )
}

function isNewLine({ start, end, text }: Splice): boolean {
  return start === end && /^\r?\n/.test(text)
}

function isSameTrail(one: Trail, other: Trail): boolean {
  return one.length === other.length && one.every((step, at) => step === other[at])
}

/** Fails unless exactly the changes of the round are read from its text. */
export function requireOnlyThis(
  documents: readonly TreeDocument[],
  { expected }: Round,
  refuse: Refuse,
): void {
  const isSame =
    documents.length === expected.length &&
    expected.every((root, at) => {
      const found = documents[at]?.root
      return found !== undefined && sameTree(root, found)
    })
  if (!isSame) throw cannotBeMade(refuse)
}

/** The Failure of a change that another form of the file would allow. */
export function cannotBeMade(refuse: Refuse): Failure {
  return refuse(
    'is written in a form in which this change cannot be made in place; write it whole.',
    'NotSupported',
  )
}
