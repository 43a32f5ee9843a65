import { accessTo, mayAccess } from './access.ts'
import type { ServedKind } from './access.ts'
import { fault } from './fault.ts'
import type { Fault } from './fault.ts'
import { member, textMember } from './member.ts'
import type { Outside } from './outside.ts'
import { shownName } from './user-info.ts'

/** What is wrong with `spec.resourceRef`, and how its kind is served. */
export interface ReferenceVerdict {
  readonly faults: readonly Fault[]
  readonly warnings: readonly string[]
  readonly served: ServedKind | undefined
}

interface Reference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** As it is written; undefined where it is left out. */
  readonly namespace: string | undefined
}

/**
 * Judges the reference of a GitCommit: its scope by discovery, and whether the subject may `get` the object. Of a
 * reference that has faults already (`found`) only so much is judged as can be relied on.
 */
export async function judgeReference(
  spec: unknown,
  found: readonly Fault[],
  outside: Outside,
): Promise<ReferenceVerdict> {
  const reference = readReference(member(spec, 'resourceRef'))
  const faulty = (fields: RegExp): boolean => found.some(({ field }) => fields.test(field))
  if (reference === undefined || faulty(/^spec(?:\.resourceRef(?:\.(?:apiVersion|kind))?)?$/)) return NOTHING
  const served = await outside.discover(reference.apiVersion, reference.kind)
  const faults =
    served?.namespaced === false
      ? clusterScopedFaults(reference, outside)
      : namespacedFaults(reference, outside)
  // Another namespace is out of scope already, however the kind will be served.
  if (served === undefined) return { faults, warnings: [unknownKind(reference)], served }
  if (faults.length > 0 || faulty(/^spec\.resourceRef\.(?:name|namespace)$/)) {
    return { faults, warnings: [], served }
  }
  return { faults: await rightFaults(reference, served, outside), warnings: [], served }
}

const NOTHING: ReferenceVerdict = { faults: [], warnings: [], served: undefined }

function readReference(value: unknown): Reference | undefined {
  const apiVersion = textMember(value, 'apiVersion')
  const kind = textMember(value, 'kind')
  if (apiVersion === undefined || kind === undefined) return undefined
  return {
    apiVersion,
    kind,
    name: textMember(value, 'name') ?? '',
    namespace: textMember(value, 'namespace'),
  }
}

function unknownKind({ apiVersion, kind }: Reference): string {
  return `spec.resourceRef.kind is ${kind} of ${apiVersion}, which the cluster does not know (yet); it is looked for again.`
}

function clusterScopedFaults({ kind, namespace }: Reference, { referenceScope }: Outside): readonly Fault[] {
  const given =
    namespace === undefined
      ? []
      : [
          fault(
            'spec.resourceRef.namespace',
            `is given, but objects of kind ${kind} have none; leave it out.`,
          ),
        ]
  if (referenceScope === 'any') return given
  const complaint = `is ${kind}, which belongs to no namespace, but the operator allows only objects of the resource's own namespace (REFERENCE_SCOPE); name another kind, or ask whoever runs Commitlet.`
  return [...given, fault('spec.resourceRef.kind', complaint, 'ReferenceForbidden')]
}

function namespacedFaults({ namespace }: Reference, outside: Outside): readonly Fault[] {
  if (outside.referenceScope === 'any' || namespace === undefined || namespace === outside.namespace)
    return []
  const complaint = `is "${namespace.slice(0, 63)}", but the operator allows only objects of the resource's own namespace (REFERENCE_SCOPE); leave it out, or ask whoever runs Commitlet.`
  return [fault('spec.resourceRef.namespace', complaint, 'ReferenceForbidden')]
}

async function rightFaults(
  reference: Reference,
  served: ServedKind,
  { review, subject, namespace: own }: Outside,
): Promise<readonly Fault[]> {
  const object = { ...reference, namespace: reference.namespace ?? own }
  if (await mayAccess(accessTo('get', served, object), review)) return []
  const place = served.namespaced ? ` in the namespace ${object.namespace}` : ''
  const complaint = `is the ${reference.kind} ${object.name}${place}, which ${shownName(subject.username)} may not \`get\`; ask for that right, or refer to another object.`
  return [fault('spec.resourceRef', complaint, 'ReferenceForbidden')]
}
