import type { ListedResource } from '../cluster.ts'
import { isAhead, LOOKS_S } from '../../domain/resource/backoff.ts'
import { intervalOf, isLookDue, type Span } from '../../domain/resource/following.ts'
import { isFailureReason, REASONS } from '../../domain/reasons.ts'

/**
 * `unsettled`: resources that are not settled. `full`: also settled ones that changed without an event arriving. `followers`: those
 * whose sources may have changed without an event.
 */
export type Sweep = 'unsettled' | 'full' | 'followers'

/**
 * Whether the resource needs an event. An unsettled resource does if no attempt has started or its `nextAttemptTime`
 * (which a claim also sets) has passed; in a full sweep, a resource does if its spec or request is newer than its status.
 * `now` is in milliseconds since 1970.
 */
export function isDue(listed: ListedResource, sweep: Exclude<Sweep, 'followers'>, now: number): boolean {
  if (listed.deleting) return false
  return sweep === 'unsettled' ? !isAhead(listed.nextAttemptTime, now) : isNewer(listed)
}

/** Whether the spec or the request is newer than the status. */
function isNewer({ ref, observedGeneration, requestedAt, lastHandledRequestedAt }: ListedResource): boolean {
  if (ref.generation > observedGeneration) return true
  return requestedAt !== undefined && requestedAt !== lastHandledRequestedAt
}

/**
 * When an unsettled resource needs an event, in milliseconds since 1970. A time that cannot be parsed counts as passed;
 * a resource that is being deleted never needs one.
 */
export function dueAt({ deleting, nextAttemptTime }: ListedResource): number {
  if (deleting) return Infinity
  const time = Date.parse(nextAttemptTime ?? '')
  return Number.isNaN(time) ? 0 : time
}

/** Whether the attempt that is due tries again what has failed: not one of a spec or a request that has none yet. */
export function isRetry(listed: ListedResource, now: number): boolean {
  const hasFailed = listed.nextAttemptTime !== undefined && isFailureReason(listed.reason)
  return hasFailed && isDue(listed, 'unsettled', now) && !isNewer(listed)
}

/** How often someone is reminded to look at the Secrets of a resource that someone has to fix: below five minutes. */
const SLOW_LOOKS_MS = 240_000
/** While Commitlet looks for what is missing, the next attempt is at most this far ahead; and each round names it. */
const LOOKS_MS = LOOKS_S * 1000

/** The times of the round before and of this one. */
export type RoundSpan = Span

/**
 * Whether an event should name a resource that is not due yet, so that the function looks at what it waits for: it may have
 * ended meanwhile, and it may have scaled to zero. What is missing is named in each round, for the time in which the function
 * looks for it. Secrets that someone has to fix are looked at every four minutes, spread by the uids of the resources.
 */
export function needsLook(
  { deleting, reason, nextAttemptTime, ref }: ListedResource,
  span: RoundSpan,
): boolean {
  const { since, now } = span
  const ahead = Date.parse(nextAttemptTime ?? '') - now
  if (deleting || !isFailureReason(reason) || !(ahead > 0)) return false
  const { retry } = REASONS[reason]
  if (retry === 'reference') return ahead <= LOOKS_MS
  if (retry === 'transient') return false
  const offset = Number.parseInt(ref.uid.slice(0, 8), 16) % SLOW_LOOKS_MS || 0
  const turn = (time: number): number => Math.floor((time + offset) / SLOW_LOOKS_MS)
  return turn(now) > turn(since)
}

/** Whether a follower whose last attempt has succeeded has its turn: once in its interval. */
export function isFollowerDue({ deleting, reason, interval, ref }: ListedResource, span: RoundSpan): boolean {
  if (deleting || (reason !== 'Succeeded' && reason !== 'UpToDate')) return false
  return isLookDue(ref.uid, { intervalSeconds: intervalOf(interval) }, span)
}
