import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { Failure } from '../failure.ts'
import { isFailureReason, REASONS } from '../reasons.ts'
import { isCurrent } from './attempt-state.ts'
import { isAhead, LOOKS_S } from './backoff.ts'
import { isSecretField } from '../spec/spec.ts'
import type { Awaited, Status } from './stored-status.ts'
import type { Envelope } from './resource.ts'
import type { ReferenceField } from '../spec/spec.ts'

/** The state of an object that does not exist, or whose kind the cluster does not serve. */
export const MISSING = 'missing'
/** The state of an object that Commitlet's service account may not read. */
export const UNREADABLE = 'unreadable'

/** What an attempt has seen of the objects that its spec names: MISSING, UNREADABLE, or uid and resourceVersion. */
export type Sightings = ReadonlyMap<ReferenceField, string>

/** What makes the version of one resource mean nothing for another one, and nothing to who has no key. */
export interface VersionKey {
  readonly uid: string
  /** The key of the stamps, if there is one. */
  readonly key: KeyObject | undefined
}

/**
 * A state as the status shows it, 16 hex digits: who may use a Secret and not read it must not learn from the status of
 * their resource whether it exists.
 */
export function versionOf(field: ReferenceField, state: string, { uid, key = NO_KEY }: VersionKey): string {
  return createHmac('sha256', key)
    .update(`commitlet.dev/v1 awaited\n${JSON.stringify([uid, field, state])}`)
    .digest('hex')
    .slice(0, 16)
}

/** In place of a stamp key, where there is none: what it makes proves nothing. */
export const NO_KEY = createSecretKey(new Uint8Array())

/** Most objects that a resource waits for; the next attempt names others. */
const MOST_AWAITED = 3

/**
 * The objects that have to change before another attempt makes sense: those that were missing, or, where someone has to
 * fix the credentials, the Secrets as they were read.
 */
export function awaitedAfter(
  failure: Pick<Failure, 'retry'>,
  sightings: Sightings,
  key: VersionKey,
): readonly Awaited[] {
  const counts = ([field, state]: readonly [ReferenceField, string]): boolean =>
    failure.retry === 'reference' ? state === MISSING : failure.retry === 'slow' && isSecretField(field)
  return [...sightings]
    .filter(counts)
    .slice(0, MOST_AWAITED)
    .map(([field, state]) => ({ field, version: versionOf(field, state, key) }))
}

/**
 * What a resource waits for while its next attempt is not due yet; empty if nothing, or if a newer spec or request is
 * about to be attempted.
 */
export function awaitedBy(resource: Envelope, now: Date): readonly Awaited[] {
  const { metadata, status } = resource
  if (metadata.deletionTimestamp !== undefined || status?.phase !== 'Retrying') return []
  const isEarly = isAhead(status.nextAttemptTime, now.getTime())
  return isEarly && isCurrent(resource) ? (status.waitingFor ?? []) : []
}

/**
 * Until when Commitlet looks again and again for what is missing, in milliseconds since 1970. Undefined where it only
 * looks when asked: what someone has to fix may take hours.
 */
export function looksUntil(status: Status | undefined): number | undefined {
  const reason = status?.conditions?.find(({ type }) => type === 'Ready')?.reason
  if (!isFailureReason(reason) || REASONS[reason].retry !== 'reference') return undefined
  const started = Date.parse(status?.startedAt ?? '')
  return Number.isNaN(started) ? undefined : started + LOOKS_S * 1000
}
