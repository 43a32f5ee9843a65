import { member, parsedJSON, textMember } from '../json-value.ts'
import { REQUESTER } from '../resource/api-names.ts'

/** How long the stamp of a follower counts: its groups are those of the apply. */
export const STAMP_DAYS = 90

/** Most bytes of a stamp: half of the API server's limit for annotations. Nobody whose stamp is larger has anything reviewed. */
export const LARGEST_STAMP = 128 * 1024

const DAY_MS = 86_400_000
/** Both webhooks, and both calls of one, take the same time for one request. */
const TOLERANCE_MS = 600_000

/** When the stamp of a follower was made, in milliseconds since 1970; undefined if its text does not say. */
export function stampedAt(requester = ''): number | undefined {
  // What is sent with an apply may be of any size.
  if (requester.length > LARGEST_STAMP) return undefined
  const time = Date.parse(textMember(parsedJSON(requester), 'at') ?? '')
  return Number.isNaN(time) ? undefined : time
}

/** Whether the stamp of a follower with these annotations counts no more. */
export function isStampOver(annotations: unknown, now: Date): boolean {
  const time = stampedAt(textMember(annotations, REQUESTER))
  return time === undefined || now.getTime() - time > STAMP_DAYS * DAY_MS
}

/**
 * The time of a stamp, RFC 3339, that is about to be made for this resource; undefined if it is no follower. The time that the
 * webhook itself has just set is kept, so that its two calls agree.
 */
export function stampTime(resource: unknown, now: Date): string | undefined {
  if (member(member(resource, 'spec'), 'sync') !== 'OnChange') return undefined
  const annotations = member(member(resource, 'metadata'), 'annotations')
  const before = stampedAt(textMember(annotations, REQUESTER))
  const isFresh = before !== undefined && Math.abs(now.getTime() - before) <= TOLERANCE_MS
  return new Date(isFresh ? before : now.getTime()).toISOString()
}
