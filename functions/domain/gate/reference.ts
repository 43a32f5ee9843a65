import { accessTo, mayAccess } from './access.ts'
import type { ServedKind } from './access.ts'
import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { meantKind } from './meant-kind.ts'
import type { ReviewContext } from './review-context.ts'
import { displayName } from '../requester/user-info.ts'
import type { ObjectReference } from '../spec/spec.ts'
import type { Draft } from '../schema/draft.ts'

/** The errors in a reference, and how its kind is served. */
export interface ReferenceVerdict {
  readonly fieldErrors: readonly FieldError[]
  readonly warnings: readonly string[]
  readonly served: ServedKind | undefined
}

interface Reference {
  /** Where it is in the spec. */
  readonly field: string
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** As written; undefined if it is left out. */
  readonly namespace: string | undefined
}

/**
 * Checks a reference of a GitCommit: its scope by discovery, and whether the subject may `get` the object. If the
 * reference already has errors (`faulty`: the fields of all that were found), only its other parts are checked. `field`: where
 * it is in the spec.
 */
export async function judgeReference(
  written: Draft<ObjectReference> | null | undefined,
  faulty: ReadonlySet<string>,
  context: ReviewContext,
  field = 'spec.resourceRef',
): Promise<ReferenceVerdict> {
  const reference = readReference(written, field)
  const isFaulty = (...fields: readonly string[]): boolean => fields.some((one) => faulty.has(one))
  if (reference === undefined || isFaulty('spec', field, `${field}.apiVersion`, `${field}.kind`))
    return NOTHING
  const served = await context.discover(reference.apiVersion, reference.kind)
  const fieldErrors =
    served?.namespaced === false
      ? clusterScopedErrors(reference, context)
      : namespacedErrors(reference, context)
  // Another namespace is out of scope whether or not the kind turns out to be namespaced.
  if (served === undefined) return { fieldErrors, warnings: [unknownKind(reference)], served }
  if (fieldErrors.length > 0 || isFaulty(`${field}.name`, `${field}.namespace`)) {
    return { fieldErrors, warnings: [], served }
  }
  return { fieldErrors: await rightErrors(reference, served, context), warnings: [], served }
}

const NOTHING: ReferenceVerdict = { fieldErrors: [], warnings: [], served: undefined }

function readReference(
  written: Draft<ObjectReference> | null | undefined,
  field: string,
): Reference | undefined {
  const { apiVersion, kind, name, namespace } = written ?? {}
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined
  return { field, apiVersion, kind, name: name ?? '', namespace: namespace ?? undefined }
}

function unknownKind({ field, apiVersion, kind }: Reference): string {
  const found = `${field}.kind is ${kind} of ${apiVersion}, which the cluster does not know (yet)`
  const meant = meantKind(apiVersion, kind)
  return meant === undefined
    ? `${found}; Commitlet retries automatically.`
    : `${found}; if you mean ${meant}, write that.`
}

function clusterScopedErrors(
  { field, kind, namespace }: Reference,
  { referenceScope }: ReviewContext,
): readonly FieldError[] {
  const given =
    namespace === undefined
      ? []
      : [
          fieldError(
            `${field}.namespace`,
            `is set, but objects of kind ${kind} have no namespace; leave it out.`,
          ),
        ]
  if (referenceScope === 'any') return given
  const complaint = `is ${kind}, which is cluster-scoped, but the operator allows only objects of the resource's own namespace (REFERENCE_SCOPE); name another kind, or ask your Commitlet operator.`
  return [...given, fieldError(`${field}.kind`, complaint, 'ReferenceForbidden')]
}

function namespacedErrors({ field, namespace }: Reference, context: ReviewContext): readonly FieldError[] {
  if (context.referenceScope === 'any' || namespace === undefined || namespace === context.namespace)
    return []
  const complaint = `is "${namespace.slice(0, 63)}", but the operator allows only objects of the resource's own namespace (REFERENCE_SCOPE); leave it out, or ask your Commitlet operator.`
  return [fieldError(`${field}.namespace`, complaint, 'ReferenceForbidden')]
}

async function rightErrors(
  reference: Reference,
  served: ServedKind,
  { review, subject, namespace: own }: ReviewContext,
): Promise<readonly FieldError[]> {
  const object = { ...reference, namespace: reference.namespace ?? own }
  if (await mayAccess(accessTo('get', served, object), review)) return []
  const where = served.namespaced ? ` in the namespace ${object.namespace}` : ''
  const complaint = `is the ${reference.kind} ${object.name}${where}, which ${displayName(subject.username)} may not \`get\`; ask for that right, or refer to another object.`
  return [fieldError(reference.field, complaint, 'ReferenceForbidden')]
}
