import type { Envelope } from './resource.ts'
import type { Status } from './stored-status.ts'

type Synced = Pick<Status, 'sync'>

/** The status `claim` of a follower that is about to push the commit of the sources with this digest. */
export function committing(claim: Status, sources: string): Status {
  return { ...claim, sync: { commits: 0, ...claim.sync, committing: sources } }
}

/**
 * What a follower has seen before, for its next status. `retried`: also what an attempt at the same request was committing,
 * which is nothing to another request.
 */
export function syncBefore({ follows, status }: Envelope, retried: boolean): Synced {
  if (follows === undefined || status?.sync === undefined) return {}
  const { committing: open, ...sync } = status.sync
  return { sync: retried && open !== undefined ? { ...sync, committing: open } : sync }
}

/** What a success says of its sources: their digest, and whether a commit was made for it. */
export interface SyncResult {
  readonly reason: 'Succeeded' | 'UpToDate'
  readonly sources?: string | undefined
}

/** What a follower has seen after a success. */
export function syncAfter(resource: Envelope, { reason, sources }: SyncResult, seenTime: string): Synced {
  if (resource.follows === undefined || sources === undefined) return {}
  const commits = (resource.status?.sync?.commits ?? 0) + (reason === 'Succeeded' ? 1 : 0)
  return { sync: { digest: sources, seenTime, commits } }
}
