import type { FieldPath } from '../field-path/field-path.ts'
import { comparisonWith } from '../field-path/read-field.ts'
import type { NumberText } from '../manifest/json-node.ts'
import { nodeAt } from './locate.ts'
import type { Refuse } from './refusal.ts'
import { comparedValue, type TreeDocument } from './tree.ts'

/** A document of a file of several: its number, counted from 0, or the value of one of its fields. */
export type DocumentChoice = number | { readonly field: FieldPath; readonly value: string | NumberText }

/** The number of the document that is meant. Fails if none is, or several are. */
export function chooseDocument(
  documents: readonly TreeDocument[],
  choice: DocumentChoice | undefined,
  refuse: Refuse,
): number {
  const count = documents.length
  if (count === 0) throw refuse('is empty, so it has no field to set; write it whole.')
  if (choice === undefined) {
    if (count === 1) return 0
    throw refuse(`has ${count} documents; say with document which one is meant.`)
  }
  if (typeof choice === 'number') {
    if (choice < count) return choice
    throw refuse(
      `has ${count} document${count === 1 ? '' : 's'}, counted from 0, and none has the number ${choice}; correct document.`,
    )
  }
  const isSame = comparisonWith(choice.value)
  const matching = documents.flatMap(({ root }, index) => {
    const node = nodeAt(root, choice.field)
    return node?.kind === 'scalar' && isSame(comparedValue(node)) ? [index] : []
  })
  const [index] = matching
  if (index !== undefined && matching.length === 1) return index
  const found = matching.length === 0 ? 'no document' : `${matching.length} documents`
  throw refuse(
    `has ${found} whose field ${choice.field.text} has the value of document, where exactly one has to; correct document.`,
  )
}
