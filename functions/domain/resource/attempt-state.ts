import { isAhead } from './backoff.ts'
import { latePushes, type LatePushes } from './late-push.ts'
import type { Envelope, ObjectMeta } from './resource.ts'
import type { Phase, Status } from './stored-status.ts'
import { REQUEST_GENERATION, REQUESTED_AT } from './api-names.ts'
import { isFailureReason, REASONS } from '../reasons.ts'

/** The value of `commitlet.dev/requested-at`, undefined where it is absent or empty. */
export function requestedAt(resource: Envelope): string | undefined {
  return resource.metadata.annotations?.[REQUESTED_AT] || undefined
}

/**
 * What tells a request by requested-at from earlier ones with the same value: when its first attempt was claimed, with a
 * random fraction of a second. It is stored with that claim, and kept by each retry. Undefined for any other request, and
 * for one that was begun by a version that did not note it.
 */
export function requestStart(resource: Envelope): string | undefined {
  return requestedAt(resource) === undefined ? undefined : notedStart(resource)
}

/**
 * Whether the attempts began for a requested-at that was removed since. What is found on the branch then is the commit of the
 * first request of the generation, which was there before them, and says nothing of what they have pushed.
 */
export function isWithdrawn(resource: Envelope): boolean {
  return requestedAt(resource) === undefined && notedStart(resource) !== undefined
}

/** When the attempts began, if that was for a requested-at. */
function notedStart({ status }: Envelope): string | undefined {
  const { startedAt = '' } = status ?? {}
  return /[.]\d{6}Z$/.test(startedAt) ? startedAt : undefined
}

/**
 * The generation at which the spec last changed apart from `suspend`: the webhook notes it when only `suspend` changes,
 * which raises the generation and is no request.
 */
export function requestGeneration({
  generation,
  annotations,
}: Pick<ObjectMeta, 'generation' | 'annotations'>): number {
  const noted = Number(annotations?.[REQUEST_GENERATION])
  return Number.isInteger(noted) && noted > 0 && noted < generation ? noted : generation
}

/** The generation of the last attempt: that of the status, unless a request waits because the resource is suspended. */
export function handledGeneration(status: Status): number {
  return status.lastHandledGeneration ?? status.observedGeneration
}

/** The phase, or for a suspended resource the one that it has as soon as it is not suspended any more. */
export function phaseUnsuspended(status: Status): Phase {
  if (status.phase !== 'Suspended') return status.phase
  if (status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')) return 'Succeeded'
  if (status.nextAttemptTime !== undefined) return 'Retrying'
  return status.attempts === undefined ? 'Pending' : 'Failed'
}

/**
 * Whether the status is about this request: the spec, apart from `suspend`, and value of `commitlet.dev/requested-at`. Removing
 * the annotation is not a request: otherwise tools that prune unknown annotations would cause a second commit.
 */
export function isCurrent(resource: Envelope): boolean {
  const { status } = resource
  if (status === undefined || handledGeneration(status) < requestGeneration(resource.metadata)) return false
  const requested = requestedAt(resource)
  return requested === undefined || status.lastHandledRequestedAt === requested
}

/**
 * Whether an attempt may start now: not if the resource is being deleted or suspended, is settled, is not due yet, or is
 * claimed by a running attempt, which continues with a newer generation when it ends. `awaited`: the `lastAttemptTime` of a
 * failed attempt whose cause has changed since, so that the next one is due, whatever its time is; or of the last attempt of a
 * follower whose sources have changed since.
 */
export function mayStart(resource: Envelope, now: Date, awaited?: string): boolean {
  const { metadata, status, suspended = false } = resource
  if (metadata.deletionTimestamp !== undefined || suspended) return false
  if (status === undefined || status.phase === 'Pending') return true
  const early = isAhead(status.nextAttemptTime, now.getTime())
  if (status.phase === 'Progressing') return !early
  if (!isCurrent(resource)) return true
  const isAwaited = awaited !== undefined && status.lastAttemptTime === awaited
  const phase = phaseUnsuspended(status)
  if (phase === 'Succeeded') return resource.follows !== undefined && isAwaited
  return phase === 'Retrying' && (!early || isAwaited)
}

/**
 * Whether the next attempt is what its user has just requested, who may know that the limit of a host is over. A retry of it is as
 * well, where the attempt before has only broken off: not where that one has met a limit, nor where it has waited for something else.
 */
export function isJustRequested(resource: Envelope): boolean {
  const { status, follows } = resource
  const requested = requestedAt(resource)
  if (requested === undefined) return false
  if (status?.lastHandledRequestedAt !== requested) return true
  if (!mayHavePushed(resource) || follows !== undefined) return false
  const reason = status.conditions?.find(({ type }) => type === 'Ready')?.reason
  return !isFailureReason(reason) || (reason !== 'RateLimited' && REASONS[reason].retry === 'transient')
}

/** Whether an attempt at this generation and requested-at started before, so that its commit may have been pushed. */
export function mayHavePushed(resource: Envelope): boolean {
  const phase = resource.status && phaseUnsuspended(resource.status)
  return isCurrent(resource) && (phase === 'Progressing' || phase === 'Retrying')
}

/**
 * Whether a commit of an earlier attempt at this request may be on the branch, so that it has to be searched for, in a history that
 * others may have made long. Not so where the results of all of them say that they have sent no push.
 */
export function mayBeOnBranch(resource: Envelope): boolean {
  return mayHavePushed(resource) && !hasPushedNothing(resource)
}

// What a withdrawn request finds is the commit of the one before it. Older releases keep the time, which is not that of their own
// attempts.
function hasPushedNothing(resource: Envelope): boolean {
  const { status } = resource
  if (status?.nothingPushedTime === undefined || isWithdrawn(resource)) return false
  return phaseUnsuspended(status) === 'Retrying' && status.nothingPushedTime === status.lastAttemptTime
}

/**
 * Whether the remote may still carry out a push of an earlier attempt, of whatever generation: its answer was lost, or its
 * attempt has ended without a result. A follower's claim tells before each push what is committed.
 */
export function mayPushLate(resource: Envelope): boolean {
  const { kind, follows, status } = resource
  if (kind !== 'GitCommit' || status === undefined) return false
  const isYetToPush = follows !== undefined && isCurrent(resource) && status.sync?.committing === undefined
  return status.latePush === true || (status.phase === 'Progressing' && !isYetToPush)
}

/** The pushes of earlier attempts that the remote may still carry out. */
export function latePushesBefore(resource: Envelope): LatePushes {
  return latePushes(mayPushLate(resource), resource.status?.latePushTo)
}

/** From this many claims in a row that ended without a result, the next attempt waits as after a transient failure. */
const MOST_LAPSES = 3

/** How many attempts in a row, the last one included, have written no result: their claims have lapsed. */
export function lapsesOf(resource: Envelope): number {
  const { phase, lapses = 0 } = resource.status ?? {}
  if (!mayHavePushed(resource)) return 0
  return phase === 'Progressing' ? lapses + 1 : lapses
}

/**
 * Whether a claim that has lapsed is not taken over at once: an attempt that takes its process down would otherwise do so
 * every half minute, and with it what else is in hand there. `limit`: RETRY_LIMIT, which may be less.
 */
export function hasLapsedOften(resource: Envelope, limit: number): boolean {
  return resource.status?.phase === 'Progressing' && lapsesOf(resource) >= Math.min(MOST_LAPSES, limit)
}

/** Whether both have the same spec, apart from `suspend`, and no requested-at came with the newer one. */
export function isSameRequest(current: Envelope, before: Envelope): boolean {
  const request = requestedAt(current)
  const isSameSpec = requestGeneration(current.metadata) === requestGeneration(before.metadata)
  return isSameSpec && (request === undefined || request === requestedAt(before))
}

/**
 * Whether the stored resource has this result of the attempt with this claim. A claim is unique, but if it has lapsed
 * another may have written a result for it.
 */
export function carriesResult(stored: Envelope, claim: Envelope, result: Status): boolean {
  const { status } = stored
  const [seen, ours] = [status, result].map((one) => one?.conditions?.find(({ type }) => type === 'Ready'))
  return (
    stored.metadata.uid === claim.metadata.uid &&
    status?.phase === result.phase &&
    status.lastAttemptTime === claim.status?.lastAttemptTime &&
    status.attempts === claim.status?.attempts &&
    seen?.reason === ours?.reason &&
    seen?.message === ours?.message
  )
}

/** Whether the stored resource still has this claim; if not, another attempt has taken over. */
export function carriesClaim(stored: Envelope, claim: Envelope): boolean {
  const [current, claimed] = [stored.status, claim.status]
  if (stored.metadata.uid !== claim.metadata.uid || current?.phase !== 'Progressing') return false
  return current.lastAttemptTime === claimed?.lastAttemptTime && current.attempts === claimed?.attempts
}
