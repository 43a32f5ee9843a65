import { member, textMember } from '../json-value.ts'
import { isCurrent, phaseUnsuspended } from './attempt-state.ts'
import type { Envelope, Following } from './resource.ts'

/** How often a follower is looked at without an event, in seconds, where it does not say: 10 minutes. */
const USUAL_INTERVAL_S = 600
const SHORTEST_INTERVAL_S = 60
const LONGEST_INTERVAL_S = 86_400

const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 }

/**
 * The seconds of a duration as Kubernetes and Flux write it, such as `10m` or `1h30m`; undefined if it is none, or is not
 * from a minute to a day.
 */
export function intervalSeconds(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text)) return undefined
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)]
  const seconds = parts.reduce((sum, [, digits, unit = '']) => sum + Number(digits) * (SECONDS[unit] ?? 0), 0)
  return seconds >= SHORTEST_INTERVAL_S && seconds <= LONGEST_INTERVAL_S ? seconds : undefined
}

/** The interval of a follower; `text`: its `spec.interval`, which may be absent or have errors. */
export function intervalOf(text: string | undefined): number {
  return intervalSeconds(text ?? '') ?? USUAL_INTERVAL_S
}

/** How a resource with this spec, which may have errors, follows what it refers to; undefined: `sync` is not OnChange. */
export function followingIn(spec: unknown): Following | undefined {
  if (member(spec, 'sync') !== 'OnChange') return undefined
  return { intervalSeconds: intervalOf(textMember(spec, 'interval')) }
}

/**
 * Whether a look at its sources may start an attempt: it follows them, and its last attempt has succeeded. One that has
 * failed for good begins again with another spec or request.
 */
export function isFollowing(resource: Envelope): boolean {
  const { metadata, status, follows, suspended = false } = resource
  if (follows === undefined || status === undefined || suspended) return false
  if (metadata.deletionTimestamp !== undefined || !isCurrent(resource)) return false
  return phaseUnsuspended(status) === 'Succeeded'
}

/** The times between which a turn of a follower has to be, in milliseconds since 1970. */
export interface Span {
  readonly since: number
  readonly now: number
}

/** Whether a follower has its turn in this span: once in each interval, spread by the uids of the resources. */
export function isLookDue(
  uid: string,
  { intervalSeconds: seconds }: Following,
  { since, now }: Span,
): boolean {
  const interval = seconds * 1000
  const offset = Number.parseInt(uid.slice(0, 8), 16) % interval || 0
  const turn = (time: number): number => Math.floor((time + offset) / interval)
  return turn(now) > turn(since)
}
