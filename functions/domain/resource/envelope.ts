import { Failure } from '../failure.ts'
import { elements, isRecord, member, textMember } from '../json-value.ts'
import { followingIn } from './following.ts'
import type { Envelope, ObjectMeta, ObjectRef } from './resource.ts'
import type { Kind } from './api-names.ts'
import type { Status } from './stored-status.ts'
import { PLURALS } from './api-names.ts'

/**
 * The envelope of a resource as the API server sent it; its spec is not read. The API server has validated status and
 * metadata against the CRD. Throws Internal for anything else.
 */
export function envelopeOf(whole: unknown): Envelope {
  if (!isEnvelope(whole)) {
    throw new Failure(
      'Internal',
      'The API server answered with an object that is not a resource of Commitlet.',
    )
  }
  const { kind, status } = whole
  const metadata = metadataOf(whole.metadata)
  const appliedAt = appliedAtOf(whole.metadata)
  const follows = kind === 'GitCommit' ? followingIn(member(whole, 'spec')) : undefined
  return {
    ...{ kind, metadata },
    ...(appliedAt === undefined ? {} : { appliedAt }),
    ...(member(member(whole, 'spec'), 'suspend') === true ? { suspended: true } : {}),
    ...(follows === undefined ? {} : { follows }),
    ...(status === undefined ? {} : { status }),
  }
}

// Each writer has an entry with the time of its last change (Server-Side Apply); the times sort as text.
function appliedAtOf(metadata: unknown): string | undefined {
  const writers = elements(member(metadata, 'managedFields'))
  const changes = writers.filter((writer) => textMember(writer, 'subresource') === undefined)
  const times = changes.flatMap((writer) => textMember(writer, 'time') ?? [])
  return times.toSorted().at(-1) ?? textMember(metadata, 'creationTimestamp')
}

// The rest, such as the managed fields, may be large, and an attempt that waits would keep it in memory.
function metadataOf(metadata: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, generation, resourceVersion, annotations, deletionTimestamp } = metadata
  return {
    ...{ name, namespace, uid, generation, resourceVersion },
    ...(annotations === undefined ? {} : { annotations }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  }
}

/** The reference to the resource, with uid and generation. */
export function refOf(resource: Envelope): ObjectRef {
  const { namespace, name, uid, generation } = resource.metadata
  return { kind: resource.kind, namespace, name, uid, generation }
}

interface Shaped {
  readonly kind: Kind
  readonly metadata: ObjectMeta
  readonly status?: Status
}

function isEnvelope(value: unknown): value is Shaped {
  if (!isRecord(value) || typeof value.kind !== 'string' || !Object.hasOwn(PLURALS, value.kind)) return false
  if (!isRecord(value.metadata)) return false
  const { name, namespace, uid, generation, resourceVersion } = value.metadata
  if (typeof generation !== 'number') return false
  return [name, namespace, uid, resourceVersion].every((text) => typeof text === 'string')
}
