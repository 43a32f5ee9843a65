import type { ListedResource } from '../../functions/cluster/cluster.ts'

/** `unsettled`: resources that are not settled. `full`: also settled ones that changed without an event arriving. */
export type Sweep = 'unsettled' | 'full'

/**
 * Whether the resource needs an event. An unsettled resource does if no attempt has started or its `nextAttemptTime`
 * (which a claim also sets) has passed; in a full sweep, a resource does if its spec or request is newer than its status.
 * `now` is in milliseconds since 1970.
 */
export function isDue(listed: ListedResource, sweep: Sweep, now: number): boolean {
  if (listed.deleting) return false
  if (sweep === 'unsettled') return dueAt(listed) <= now
  if (listed.ref.generation > listed.observedGeneration) return true
  return listed.requestedAt !== undefined && listed.requestedAt !== listed.lastHandledRequestedAt
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
