import type { FieldReference, GitCommitSpec, ReferenceField } from '../spec/spec.ts'
import type { Draft } from '../schema/draft.ts'

/** Maximum objects that one resource refers to: the right to each is reviewed. */
export const OBJECTS_LIMIT = 100

/** A reference to an object of the cluster, and the field of the spec that holds it. */
export interface WrittenReference {
  readonly field: ReferenceField
  readonly reference: Draft<FieldReference>
}

/**
 * Every object that a GitCommit refers to, in the order of the spec; what is no object is left out. All rules for
 * references, at apply and at the attempt, see this list, and nothing else is read for the commit.
 */
export function writtenReferences(spec: Draft<GitCommitSpec>): readonly WrittenReference[] {
  const short = referenceIn('spec.resourceRef', spec.resourceRef)
  const files = (spec.files ?? []).flatMap((file, i) => [
    ...referenceIn(`spec.files[${i}].resourceRef`, file?.resourceRef),
    ...(file?.set ?? []).flatMap((change, j) =>
      referenceIn(`spec.files[${i}].set[${j}].valueFrom.resourceRef`, change?.valueFrom?.resourceRef),
    ),
  ])
  return [...short, ...files]
}

/** How many objects these are: several references may be to one. */
export function countObjects(written: readonly WrittenReference[]): number {
  const keys = written.map(({ reference: { apiVersion, kind, namespace, name } }) =>
    JSON.stringify([apiVersion, kind, namespace, name]),
  )
  return new Set(keys).size
}

function referenceIn(
  field: ReferenceField,
  reference: Draft<FieldReference> | null | undefined,
): readonly WrittenReference[] {
  return reference === null || reference === undefined ? [] : [{ field, reference }]
}
