import { isFailureReason, REASONS } from '../reasons.ts'
import type { Envelope } from './resource.ts'
import { REQUESTED_AT } from './resource.ts'

/** The value of `commitlet.dev/requested-at`, undefined where it is absent or empty. */
export function requestedAt(resource: Envelope): string | undefined {
  return resource.metadata.annotations?.[REQUESTED_AT] || undefined
}

/**
 * Is the status about this generation and value of `commitlet.dev/requested-at`? Removing the annotation requests
 * nothing: tools that prune what they do not know would otherwise cause a second commit.
 */
export function isCurrent(resource: Envelope): boolean {
  const { status } = resource
  if (status === undefined || status.observedGeneration !== resource.metadata.generation) return false
  const requested = requestedAt(resource)
  return requested === undefined || status.lastHandledRequestedAt === requested
}

/**
 * Whether an attempt may start now: not if the resource is being deleted, is settled, is not due yet, or is claimed by
 * a running attempt, which goes on with a newer generation itself when it ends.
 */
export function mayStart(resource: Envelope, now: Date): boolean {
  const { status } = resource
  if (resource.metadata.deletionTimestamp !== undefined) return false
  if (status === undefined || status.phase === 'Pending') return true
  const early = status.nextAttemptTime !== undefined && Date.parse(status.nextAttemptTime) > now.getTime()
  if (status.phase === 'Progressing') return !early
  if (!isCurrent(resource)) return true
  return status.phase === 'Retrying' && !early
}

/** Has an attempt at this generation and requested-at started before, so that its commit may have been pushed? */
export function mayHavePushed(resource: Envelope): boolean {
  const phase = resource.status?.phase
  return isCurrent(resource) && (phase === 'Progressing' || phase === 'Retrying')
}

/** With a budget of a day so many times RETRY_LIMIT attempts may have been made. */
const DAY_FACTOR = 10

/**
 * Have attempts reached their limit without one of them writing how it ended? That happens where each one crashes its
 * process, or where the API server never accepts the status.
 */
export function isGivenUp(resource: Envelope, limit: number): boolean {
  const { status } = resource
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const forADay = isFailureReason(ready?.reason) && REASONS[ready.reason].budget === 'day'
  const most = forADay ? limit * DAY_FACTOR : limit
  return mayHavePushed(resource) && status?.phase === 'Progressing' && (status.attempts ?? 0) >= most
}

/** Does the stored resource still carry this claim, or has another attempt taken over? */
export function carriesClaim(stored: Envelope, claim: Envelope): boolean {
  const [current, claimed] = [stored.status, claim.status]
  if (stored.metadata.uid !== claim.metadata.uid || current?.phase !== 'Progressing') return false
  return current.lastAttemptTime === claimed?.lastAttemptTime && current.attempts === claimed?.attempts
}
