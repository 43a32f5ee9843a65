import type { Cluster } from '../../functions/cluster/cluster.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { entries, member } from '../../functions/domain/json-value.ts'
import { stampFor } from '../../functions/domain/requester/stamp.ts'
import type { UserInfo } from '../../functions/domain/requester/user-info.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import { API_VERSION, KINDS, type Kind } from '../../functions/domain/resource/api-names.ts'
import { isObjectName, type Envelope } from '../../functions/domain/resource/resource.ts'
import { type Status } from '../../functions/domain/resource/stored-status.ts'
import { parse, type Parsed } from '../../functions/domain/schema/parse.ts'
import type { GateSettings } from '../../functions/domain/gate/settings.ts'
import type { FileObject } from '../input/objects.ts'
import { UsageError } from '../terminal/exit-codes.ts'

/** A GitCommit or a PullRequest, of the cluster or of a file. */
export interface LocalResource {
  readonly envelope: Envelope
  readonly parsed: Parsed
  /** The object itself. */
  readonly whole: unknown
}

/** Whether the object of a file is a GitCommit or a PullRequest of this release. */
export function isResource({ apiVersion, kind }: FileObject): boolean {
  return apiVersion === API_VERSION && KINDS.some((known) => known === kind)
}

/**
 * Throws UsageError if the API server would not take the names of the resource of a file: they stand in the trailers of its commit,
 * where a line end would begin another one.
 */
export function requireNames({ kind, name, namespace, source }: FileObject, usual: string): void {
  if ([name, namespace ?? usual].every(isObjectName)) return
  throw new UsageError(
    `${source} has a ${kind} whose name or namespace the API server does not take; write both in lower-case letters, digits, - and .`,
  )
}

/** Reads a resource of the cluster. Throws ReferenceNotFound if there is none, and what the API server answers. */
export async function readStored(
  cluster: Pick<Cluster, 'readResource'>,
  ref: { readonly kind: Kind; readonly namespace: string; readonly name: string },
): Promise<LocalResource> {
  const whole = await cluster.readResource(ref)
  if (whole !== undefined) return { envelope: envelopeOf(whole), parsed: parse(whole), whole }
  const message = `There is no ${ref.kind} ${ref.name} in the namespace ${ref.namespace}; check the name and -n.`
  throw new Failure('ReferenceNotFound', message)
}

/**
 * Throws ReferenceForbidden if the resource is being deleted. The webhook does not look at one that is, so its spec and its stamp
 * may be anybody's, and what they name must not be used with the rights of whoever runs the command.
 */
export function requireKept({ envelope: { kind, metadata } }: LocalResource): void {
  if (metadata.deletionTimestamp === undefined) return
  const { namespace, name } = metadata
  throw new Failure(
    'ReferenceForbidden',
    `${kind} ${namespace}/${name} is being deleted, so no attempt starts, and its annotations may name anybody as who asked for it; wait until it is gone, and apply it again.`,
  )
}

/** Who asks for the resource of a file, and what the API server would write into it. */
export interface Applying {
  readonly user: UserInfo
  readonly namespace: string
  readonly delegation: GateSettings['delegation']
  /** Left out: nothing is signed. */
  readonly stampKey?: GateSettings['stampKey']
  /** Values of metadata that the API server gives. */
  readonly uid: string
  /** The value of `commitlet.dev/requested-at`. */
  readonly requestedAt?: string
  /** Since when an earlier attempt at it may have committed something. */
  readonly startedAt?: Date
}

/** The resource of a file as it would be stored if this user applied it, with the stamp that the webhook would make. */
export function asApplied(object: FileObject, applying: Applying): LocalResource {
  const { user, delegation, stampKey, uid, requestedAt, startedAt } = applying
  const namespace = object.namespace ?? applying.namespace
  const written = member(object.value, 'metadata')
  const annotations: Readonly<Record<string, unknown>> = {
    ...Object.fromEntries(entries(member(written, 'annotations'))),
    ...(requestedAt === undefined ? {} : { 'commitlet.dev/requested-at': requestedAt }),
  }
  const metadata = { ...Object.fromEntries(entries(written)), name: object.name, namespace, annotations }
  const after = { ...object.value, metadata, status: statusOf(startedAt) }
  const stamping = { user, extraKeys: [], delegation, key: stampKey, now: new Date() }
  const stamp = stampFor({ before: undefined, after, namespace }, stamping)
  const kept = Object.entries({ ...annotations, ...stamp }).filter(([, text]) => text !== undefined)
  const whole = {
    ...after,
    metadata: {
      ...metadata,
      annotations: Object.fromEntries(kept),
      uid,
      generation: 1,
      resourceVersion: '0',
    },
  }
  return { envelope: envelopeOf(whole), parsed: parse(whole), whole }
}

function statusOf(startedAt: Date | undefined): Status | undefined {
  return startedAt && { observedGeneration: 1, phase: 'Progressing', startedAt: startedAt.toISOString() }
}
