import { isFailureReason, REASONS } from '../reasons.ts'
import type { Envelope } from './resource.ts'
import { REQUESTED_AT } from './resource.ts'

/** The value of `commitlet.dev/requested-at`, undefined where it is absent or empty. */
export function requestedAt(resource: Envelope): string | undefined {
  return resource.metadata.annotations?.[REQUESTED_AT] || undefined
}

/**
 * Does the status speak of this very generation and value of `commitlet.dev/requested-at`? An annotation that was
 * taken away asks for nothing: tools that prune what they do not know would otherwise ask for a second commit.
 */
export function isCurrent(resource: Envelope): boolean {
  const { status } = resource
  if (status === undefined || status.observedGeneration !== resource.metadata.generation) return false
  const requested = requestedAt(resource)
  return requested === undefined || status.lastHandledRequestedAt === requested
}

/**
 * Whether an attempt may start now: not at a resource that is being deleted, settled, before its time, or claimed
 * by an attempt that lives, which takes up a newer generation itself when it ends.
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

/** Has an attempt at this generation and requested-at begun before, so that its commit may be there already? */
export function mayHavePushed(resource: Envelope): boolean {
  const phase = resource.status?.phase
  return isCurrent(resource) && (phase === 'Progressing' || phase === 'Retrying')
}

/** With a budget of a day so many times RETRY_LIMIT attempts may have been made. */
const DAY_FACTOR = 10

/**
 * Have attempts used up their number without one of them coming to write how it ended? So it is where each one
 * takes its process down, or where the API server never takes the status.
 */
export function isGivenUp(resource: Envelope, limit: number): boolean {
  const { status } = resource
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const lasting = isFailureReason(ready?.reason) && REASONS[ready.reason].budget === 'day'
  const most = lasting ? limit * DAY_FACTOR : limit
  return mayHavePushed(resource) && status?.phase === 'Progressing' && (status.attempts ?? 0) >= most
}

/** Does the stored resource still carry this very claim, or has another attempt taken over? */
export function carriesClaim(stored: Envelope, claim: Envelope): boolean {
  const [is, was] = [stored.status, claim.status]
  if (stored.metadata.uid !== claim.metadata.uid || is?.phase !== 'Progressing') return false
  return is.lastAttemptTime === was?.lastAttemptTime && is.attempts === was?.attempts
}
