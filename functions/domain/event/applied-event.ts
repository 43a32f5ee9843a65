import { createHash } from 'node:crypto'
import { requestDigest } from '../commit/commit-id.ts'
import { Failure } from '../failure.ts'
import { member, textMember } from '../json-value.ts'
import { type Kind, REQUESTED_AT, API_VERSION, PLURALS } from '../resource/api-names.ts'
import { branchNamed } from '../spec/names.ts'
import { traceparentOf, type TraceContext } from '../telemetry/trace-context.ts'
import { readRef } from './object-ref.ts'
import { TRACEPARENT } from './sender-signature.ts'

/** The type of the event that says "this resource was applied", by kind. */
export const APPLIED_TYPES = {
  GitCommit: 'dev.commitlet.gitcommit.applied',
  PullRequest: 'dev.commitlet.pullrequest.applied',
} as const satisfies Record<Kind, string>

/**
 * The extension attribute that tells apart for whom the webhook has made the review of which an event tells: equal for the same
 * address, and 16 hex digits. It counts in events of the webhook alone, and it is not signed: it changes nobody's rights.
 */
export const CALLER = 'caller'

/** The data of the event: the resource to read, and which state of it the sender saw. */
export interface AppliedData {
  readonly apiVersion: string
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly generation: number
  /** Digest of `commitlet.dev/requested-at`, if that is set. */
  readonly request?: string
}

/** A CloudEvent 1.0 before it is encoded; extensions are among the attributes. */
export interface AppliedEvent {
  readonly attributes: Readonly<Record<string, string>>
  readonly data: AppliedData
}

/**
 * The event for a resource that is stored or is about to be. `id` is a random UUID from the caller, which makes the
 * event unique together with `source`; `trace` is what it continues. Throws InvalidSpec for anything but a resource of Commitlet.
 */
export function appliedEvent(resource: unknown, id: string, trace?: TraceContext): AppliedEvent {
  const metadata = member(resource, 'metadata')
  const { uid, generation, ...ref } = readRef(resource, metadata)
  const requested = textMember(member(metadata, 'annotations'), REQUESTED_AT) || undefined
  if (uid === undefined || generation === undefined) {
    throw new Failure('InvalidSpec', `${ref.kind} ${ref.namespace}/${ref.name} has no uid or no generation.`)
  }
  return {
    attributes: {
      specversion: '1.0',
      type: APPLIED_TYPES[ref.kind],
      source: `/apis/${API_VERSION}/namespaces/${ref.namespace}/${PLURALS[ref.kind]}`,
      id,
      subject: `${ref.namespace}/${ref.name}`,
      datacontenttype: 'application/json',
      partitionkey: partitionKey(ref.kind, resource),
      ...(trace === undefined ? {} : { [TRACEPARENT]: traceparentOf(trace) }),
    },
    data: {
      apiVersion: API_VERSION,
      ...ref,
      uid,
      generation,
      ...(requested === undefined ? {} : { request: requestDigest(requested) }),
    },
  }
}

/** The same event, of a review that came from this address. */
export function calledFrom({ attributes, data }: AppliedEvent, address: string): AppliedEvent {
  const caller = createHash('sha256').update(address).digest('hex').slice(0, 16)
  return { attributes: { ...attributes, [CALLER]: caller }, data }
}

/** From whose review it is; undefined for that of a sweep. */
export function callerOf({ attributes }: Pick<AppliedEvent, 'attributes'>): string | undefined {
  return attributes[CALLER]
}

/** The same of an event in binary mode. */
export function callerIn(headers: Readonly<Record<string, unknown>>): string | undefined {
  const caller = headers[`ce-${CALLER}`]
  return typeof caller === 'string' && /^[0-9a-f]{16}$/.test(caller) ? caller : undefined
}

/**
 * The extension `partitionkey` of an event: 32 hex digits, equal for the same repository address and branch, so that an
 * ordered Broker delivers one branch to one consumer. Two spellings of one branch may have different keys: the key only
 * avoids races, the push decides them.
 */
function partitionKey(kind: Kind, resource: unknown): string {
  const spec = member(resource, 'spec')
  const repository = (textMember(spec, 'repository') ?? '').replace(/\.git$/, '')
  const branch = kind === 'GitCommit' ? branchNamed(resource) : textMember(spec, 'headBranch')
  return createHash('sha256')
    .update(JSON.stringify([repository, branch]))
    .digest('hex')
    .slice(0, 32)
}
