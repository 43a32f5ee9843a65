import type { Cluster, ListedResource } from '../cluster.ts'
import { KINDS } from '../../domain/resource/api-names.ts'
import type { Kind } from '../../domain/resource/api-names.ts'
import type { Phase } from '../../domain/resource/stored-status.ts'
import type { Sweeper, Tally } from './announce.ts'
import { makeAnnouncer } from './announce.ts'
import type { Sweep } from './due.ts'
import { guardRound } from './guard.ts'
import { makeRetryPace } from './retry-pace.ts'
import type { Scope, Walk } from './walk.ts'
import { makeWalk } from './walk.ts'

/** One round: sends events for what is due, and returns what it found. Never rejects. */
export type Round = (signal: AbortSignal) => Promise<RoundResult>

/** What a round has found. */
export interface RoundResult extends Tally {
  /** How many resources each part of it listed; one may be listed twice. */
  readonly listed: readonly { readonly scope: Scope; readonly rows: number }[]
  /** The kinds of lists that could not be read to their end. */
  readonly failed: readonly Kind[]
  /** Whether it has come to the end of all lists, those of large namespaces included, which it may have begun in the middle. */
  readonly isComplete: boolean
}

/** Claims that have lapsed come first. */
const PHASES = ['Progressing', 'Retrying', 'Pending'] as const
/** Pages of large namespaces in one round of a walk. */
const OWN_PAGES: Readonly<Record<Sweep, number>> = { unsettled: 100, full: 2_000, followers: 2_000 }
/** The first round for followers names those whose turn was so long ago: nobody may have named them since. */
export const LOOKBACK_MS = 300_000
/** As many as events may wait in the sink. */
const MOST_POSTPONED = 10_000
/** Rows of a kind below which it is read at once again: half of what fits into such a list. */
const FEW_ROWS = 200

interface Leg extends Walk {
  readonly scope: Scope
}

/**
 * Makes the rounds of a sweep. They must not overlap, because a round goes on where the one before has failed. A round
 * begins with all namespaces that have a few resources; large ones follow. Where not all events had room, the next round
 * begins with another namespace, chosen at random. As long as only a few resources are not settled, they are read at once, by one
 * call for a kind.
 */
export function makeRounds(sweeper: Sweeper, sweep: Sweep): Round {
  const legs = legsOf(sweeper.cluster, sweep)
  const paged = new Set<Kind>()
  const pace = makeRetryPace()
  let first = ''
  let since = sweeper.cluster.now().getTime() - (sweep === 'followers' ? LOOKBACK_MS : 0)

  return async function round(signal) {
    const announcer = makeAnnouncer(sweeper, { sweep, since, pace }, signal)
    const { tally, select, hasRoom, announce, announceShared } = announcer
    since = sweeper.cluster.now().getTime()
    const postponed: ListedResource[] = []
    const listed = legs.map(({ scope }) => ({ scope, rows: 0 }))
    const { guarded, failed } = guardRound(sweeper, sweep)
    const namespaces = makeLot()

    async function visit(rows: readonly ListedResource[]): Promise<void> {
      const due = select(rows)
      for (const { ref } of due) namespaces.add(ref.namespace)
      const isLate = ({ ref }: ListedResource): boolean => ref.namespace < first
      postponed.push(...due.filter(isLate).slice(0, MOST_POSTPONED - postponed.length))
      await announce(due.filter((row) => !isLate(row)))
    }

    /** Counts the rows of a leg before they are visited. */
    function counting(leg: Leg, visitRows: typeof visit): typeof visit {
      const count = listed[legs.indexOf(leg)]
      return (rows) => {
        if (count !== undefined) count.rows += rows.length
        return visitRows(rows)
      }
    }

    const visitLarge = async (rows: readonly ListedResource[]): Promise<void> => announce(select(rows))
    const few = new Map<Kind, readonly ListedResource[]>()
    for (const kind of sweep === 'unsettled' ? KINDS.filter((kind) => !paged.has(kind)) : []) {
      await guarded(kind, async () => {
        // Until it is read: where that fails, the next round reads pages.
        paged.add(kind)
        few.set(kind, [])
        const rows = await sweeper.cluster.listUnsettled(kind)
        if (rows === undefined) {
          few.delete(kind)
          return
        }
        few.set(kind, rows)
        paged.delete(kind)
      })
    }
    for (const leg of legs) {
      const { kind, phase } = leg.scope
      const visitor = { visit: counting(leg, visit), hasRoom, signal }
      const rows = few.get(kind)?.filter((row) => phaseOf(row) === phase)
      await guarded(kind, () => (rows === undefined ? leg.common(visitor) : visitor.visit(rows)))
      await guarded(kind, () => announce(postponed.splice(0)))
    }
    // Fails only where the API server does, for whichever kind.
    await guarded('GitCommit', announceShared)
    const ends = []
    for (const leg of legs.filter(({ scope }) => !few.has(scope.kind))) {
      const visitor = { visit: counting(leg, visitLarge), hasRoom, signal }
      ends.push(await guarded(leg.scope.kind, () => leg.large(visitor)))
    }
    await guarded('GitCommit', announceShared)
    for (const kind of paged) if (!few.has(kind) && rowsIn(listed, kind) < FEW_ROWS) paged.delete(kind)
    first = tally.isCrowded ? namespaces.drawn() : ''
    const isComplete = failed.length === 0 && ends.every((end) => end === true) && !signal.aborted
    return { ...tally, listed, failed, isComplete }
  }
}

/** The phase of a resource that is not settled: an attempt has the reason Progressing, and one that was never made has no time. */
function phaseOf({ reason, nextAttemptTime }: ListedResource): Phase {
  if (nextAttemptTime === undefined) return 'Pending'
  return reason === 'Progressing' ? 'Progressing' : 'Retrying'
}

function rowsIn(listed: RoundResult['listed'], kind: Kind): number {
  return listed.filter(({ scope }) => scope.kind === kind).reduce((sum, { rows }) => sum + rows, 0)
}

function legsOf(cluster: Pick<Cluster, 'listPage'>, sweep: Sweep): readonly Leg[] {
  return scopesOf(sweep).map((scope) => ({ scope, ...makeWalk(cluster, scope, OWN_PAGES[sweep]) }))
}

function scopesOf(sweep: Sweep): readonly Scope[] {
  if (sweep === 'followers') return [{ kind: 'GitCommit', phase: undefined, follows: true }]
  const phases = sweep === 'full' ? [undefined] : PHASES
  return phases.flatMap((phase) => KINDS.map((kind) => ({ kind, phase })))
}

/** Draws one of the names that are added, each with the same chance, and keeps no other. */
function makeLot(): { readonly add: (name: string) => void; readonly drawn: () => string } {
  let drawn = ''
  let count = 0
  function add(name: string): void {
    count += 1
    if (Math.random() * count < 1) drawn = name
  }
  return { add, drawn: () => drawn }
}
