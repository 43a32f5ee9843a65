import type { ChangeDraft, Landed } from '../../domain/commit/change.ts'
import { searchedInAttemptFrom } from '../../domain/commit/clock-margin.ts'
import { movedMeanwhile } from '../branch.ts'
import type { Remote, SoughtCommit, Tip } from '../remote.ts'
import type { PendingChange, Settled } from './pending-change.ts'
import type { Seen } from './plan-batch.ts'

/**
 * Changes whose commits may already be on the branch, or may still get there, each with the date since which the
 * history has to be searched. A change stays in it until it is settled: the server may carry out a push long after
 * its client has disconnected, even between the search and the next push.
 */
export type Doubts = ReadonlyMap<PendingChange, Date>

/** The doubts from earlier attempts. */
export function firstDoubts(batch: readonly PendingChange[]): Doubts {
  return new Map(
    batch.flatMap((pending) =>
      pending.change.since === undefined ? [] : [[pending, pending.change.since] as const],
    ),
  )
}

/** After a push with unknown outcome: the commits of all changes that are left may be on the branch. */
export function doubtAll(doubts: Doubts, rest: readonly PendingChange[]): Doubts {
  return new Map([
    ...rest.map((pending) => [pending, searchedInAttemptFrom(pending.date)] as const),
    ...doubts,
  ])
}

/** Changes whose pushes are said to have lost their races, as far as is known of their paths. */
export interface LostRaces {
  readonly doubts: Doubts
  /** Default: none. */
  readonly raced?: ReadonlySet<PendingChange>
  /** What the tip held at their paths then. */
  readonly before?: Seen
}

/**
 * Those at whose paths there is something else now. A proxy that sends a request again, which it may not (RFC 9110, 9.2.2), has the
 * server refuse a push that it has carried out before: what is there may be written over their commits.
 */
export function writtenOver(
  { doubts, raced = new Set(), before }: LostRaces,
  batch: readonly PendingChange[],
  seen: Seen,
): readonly PendingChange[] {
  return batch.filter(
    (pending) => raced.has(pending) && !doubts.has(pending) && before?.get(pending) !== seen.get(pending),
  )
}

/** Whether a push of this session may have made its commit, or may still make it: no earlier attempt says so. */
export function isDoubtOfSession(doubts: Doubts, pending: PendingChange): boolean {
  return doubts.has(pending) && pending.change.since === undefined
}

/** The date since which history is needed; undefined: no change of the batch is in doubt. */
export function searchedSince(doubts: Doubts, batch: readonly PendingChange[]): Date | undefined {
  const dates = batch.flatMap((pending) => doubts.get(pending)?.getTime() ?? [])
  return dates.length === 0 ? undefined : new Date(Math.min(...dates))
}

/** Settles the doubtful changes whose commits are in the history of the tip. */
export async function settleFound(
  remote: Remote,
  tip: Tip,
  { batch, doubts }: { readonly batch: readonly PendingChange[]; readonly doubts: Doubts },
): Promise<Settled> {
  const inDoubt = batch.filter((pending) => doubts.has(pending))
  // A branch that is missing may have been merged and deleted meanwhile: the tip is what it would begin at.
  if (tip.commit === undefined || inDoubt.length === 0) return new Map()
  const names = await remote.findLanded(
    tip,
    inDoubt.map(({ change }) => soughtFor(change)),
  )
  return new Map(
    inDoubt.flatMap((pending, i) => {
      const sha = names[i]
      return sha === undefined ? [] : [[pending, found(sha, tip)] as const]
    }),
  )
}

/**
 * Searches for the commit of an earlier attempt as a push does, but writes nothing. Undefined: there is none.
 * @throws Failure for an error of the remote; Conflict if the branch moves while it is read
 */
export async function findOne(remote: Remote, change: ChangeDraft): Promise<Landed | undefined> {
  const tip = await remote.readTip({ branch: change.branch, since: change.since, fresh: true })
  if (tip === 'moved') throw movedMeanwhile(remote.url)
  if (tip.commit === undefined) return undefined
  const [sha] = await remote.findLanded(tip, [soughtFor(change)])
  return sha === undefined ? undefined : found(sha, tip)
}

function soughtFor({ id, seals, files }: ChangeDraft): SoughtCommit {
  return { id, seals, paths: files.map(({ path }) => path) }
}

function found(sha: string, { branch }: Tip): Landed {
  return { outcome: 'found', sha, branch }
}
