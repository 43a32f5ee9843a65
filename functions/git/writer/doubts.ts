import type { Change, Landed } from '../../domain/commit/change.ts'
import { Failure } from '../../domain/failure.ts'
import { settle, type PendingChange } from './pending-change.ts'
import { fetchBase, type Base } from '../session/fetch.ts'
import { findLanded } from '../session/history.ts'
import type { Session } from '../session/session.ts'

/**
 * Changes whose commits may be on the branch already, or may still get there, each with the time since which
 * history has to tell. One that is in it stays until it is settled: the server may carry out a push long after
 * its client has gone, between the search and the next push.
 */
export type Doubts = Map<PendingChange, Date>

/** The doubts that earlier attempts leave. */
export function firstDoubts(batch: readonly PendingChange[]): Doubts {
  const doubts: Doubts = new Map()
  for (const entry of batch) if (entry.change.since !== undefined) doubts.set(entry, entry.change.since)
  return doubts
}

/**
 * After a push of unknown outcome: the commits of all that are left may be on the branch. They carry the
 * entries' own dates, so that no margin for other clocks is needed.
 */
export function doubt(doubts: Doubts, left: Iterable<PendingChange>): void {
  for (const entry of left) if (!doubts.has(entry)) doubts.set(entry, entry.date)
}

/** Since when history is needed; undefined: nobody who is left is in doubt. */
export function searchedSince(doubts: Doubts, left: ReadonlySet<PendingChange>): Date | undefined {
  const dates = [...doubts].filter(([entry]) => left.has(entry)).map(([, since]) => since.getTime())
  return dates.length === 0 ? undefined : new Date(Math.min(...dates))
}

/** Settles those in doubt whose commits are in the history of `base`. */
export async function settleFound(
  session: Session,
  { base, doubts }: { readonly base: Base; readonly doubts: Doubts },
  left: Set<PendingChange>,
): Promise<void> {
  const sought = [...left].filter((entry) => doubts.has(entry))
  if (!base.exists || sought.length === 0) return
  for (const [entry, sha] of await findLanded(session, base.branch, sought)) {
    settle(left, entry, { outcome: 'found', sha, branch: base.branch })
  }
}

/**
 * Looks for the commit of an earlier attempt as a push does, and writes nothing. Undefined: it is not there.
 * @throws Failure what fetchBase throws; Conflict where the branch moves while it is read
 */
export async function findOne(
  session: Session,
  change: Omit<Change, 'content'>,
): Promise<Landed | undefined> {
  const base = await fetchBase(session, change.branch, change.since)
  if (base === undefined)
    throw new Failure(
      'Conflict',
      `The branch of ${session.context.url} moved while it was read; it is tried again.`,
    )
  if (!base.exists) return undefined
  const [sha] = (await findLanded(session, base.branch, [{ change }])).values()
  return sha === undefined ? undefined : { outcome: 'found', sha, branch: base.branch }
}
