import type { KeyObject } from 'node:crypto'
import { accountNamed, applierOf } from './delegation.ts'
import type { Applier, Delegation } from './delegation.ts'
import { Failure } from '../failure.ts'
import { member, parsedJSON } from '../json-value.ts'
import { signedOf, stampOf } from './stamp.ts'
import { PLURALS, REQUESTED_AT, REQUESTED_BY, REQUESTER, REQUESTER_SIGNATURE } from '../resource/api-names.ts'
import { requestGeneration } from '../resource/attempt-state.ts'
import type { Resource } from '../resource/resource.ts'
import { verifies } from './signature.ts'
import { isOfGeneration } from './stamp-generation.ts'
import { isStampOver, STAMP_DAYS } from './stamp-time.ts'
import { readUserInfo } from './user-info.ts'
import type { UserInfo } from './user-info.ts'
import { createHash } from 'node:crypto'

/** The requester of a resource, according to its stamp. */
export interface Requester {
  /** Whose rights count: the requester, or the account that is reviewed in place of a delegated applier. */
  readonly subject: UserInfo
  /** The requester's own user name. */
  readonly username: string
  /** One line for messages and trailers. */
  readonly displayName: string
}

/** The settings for reading stamps. */
export interface StampReading {
  /** Undefined: signatures are not checked. */
  readonly key: KeyObject | undefined
  /** Keys that were replaced, and still verify. */
  readonly olderKeys?: readonly KeyObject[] | undefined
  readonly delegation: Delegation
  /** The stamp of a follower counts for 90 days. */
  readonly now: Date
}

/**
 * Reads the stamp. Throws ReferenceForbidden, with the command that makes the webhook stamp the resource again, if there
 * is no stamp, or its signature does not match the current namespace, kind, spec, requested-at and stamp, or it is that of
 * another generation, or that of a follower and too old. `spec`: as it was written.
 */
export function requesterOf(
  resource: Resource,
  { key, olderKeys = [], delegation, now }: StampReading,
  spec: unknown = resource.spec,
): Requester {
  const { namespace } = resource.metadata
  const stamp = stampOf(resource)
  const displayName = stamp[REQUESTED_BY]
  if (displayName === undefined || stamp[REQUESTER] === undefined) throw unstamped(resource, 'does not say')
  const signed = signedOf({ ...resource, spec }, namespace, stamp)
  const isProven = (one: KeyObject): boolean => verifies(signed, stamp[REQUESTER_SIGNATURE], one)
  if (key !== undefined && ![key, ...olderKeys].some(isProven)) throw unstamped(resource, 'does not prove')
  const stamped = parsedJSON(stamp[REQUESTER])
  if (!isOfGeneration(stamped, requestGeneration(resource.metadata)))
    throw unstamped(resource, 'does not prove')
  const applier = applierIn(stamped, namespace, delegation)
  if (applier === undefined) throw unstamped(resource, 'does not say')
  const follows = resource.kind === 'GitCommit' && resource.spec.sync === 'OnChange'
  if (follows && isStampOver(resource.metadata.annotations, now)) throw tooOld(resource)
  return { subject: applier.subject, username: applier.user.username, displayName }
}

// The setting applies also to a stamp that is older than the controller's entry.
function applierIn(stamped: unknown, namespace: string, delegation: Delegation): Applier | undefined {
  const user = readUserInfo(stamped)
  if (user === undefined) return undefined
  const as = member(stamped, 'as')
  if (as === undefined) return applierOf(user, namespace, delegation)
  const subject = typeof as === 'string' ? accountNamed(as, namespace) : undefined
  return subject === undefined ? undefined : { user, subject, as: subject.username }
}

function unstamped(resource: Resource, complaint: string): Failure {
  return new Failure(
    'ReferenceForbidden',
    `The resource ${complaint} who asked for it, because the webhook's stamp is missing or does not match; request it again: ${renewal(resource)}`,
  )
}

function tooOld(resource: Resource): Failure {
  return new Failure(
    'ReferenceForbidden',
    `The resource follows its sources (sync: OnChange), and nobody has asked for that in the last ${STAMP_DAYS} days; ask again: ${renewal(resource)}`,
  )
}

function renewal({ kind, metadata: { namespace, name } }: Resource): string {
  return `kubectl annotate -n ${namespace} ${PLURALS[kind]} ${name} ${REQUESTED_AT}="$(date -u +%FT%TZ)" --overwrite`
}

/** REQUESTED_BY_TRAILER: how a commit names its requester. The first is the default. */
export const REQUESTED_BY_TRAILERS = ['name', 'hash', 'off'] as const

export type RequestedByTrailer = (typeof REQUESTED_BY_TRAILERS)[number]

/**
 * Value of the trailer `Requested-by`: the display name; or `sha256:` and the first 16 hex digits of the SHA-256 of the
 * user name, by which those who know the name can find the commits; or none.
 */
export function requestedBy(requester: Requester, trailer: RequestedByTrailer): string | undefined {
  if (trailer === 'name') return requester.displayName
  if (trailer === 'off') return undefined
  return `sha256:${createHash('sha256').update(requester.username).digest('hex').slice(0, 16)}`
}
