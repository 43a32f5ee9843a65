import type { Cluster, ListedResource } from '../cluster.ts'
import { errorLogFields, reasonOf } from '../../domain/error-log-fields.ts'
import { PLURALS } from '../../domain/resource/resource.ts'
import type { Kind } from '../../domain/resource/resource.ts'
import type { Sweeper, Tally } from './announce.ts'
import { makeAnnouncer } from './announce.ts'
import type { Sweep } from './due.ts'
import type { Scope, Walk } from './walk.ts'
import { makeWalk } from './walk.ts'

/** One round: sends events for what is due, and returns what it found. */
export type Round = (signal: AbortSignal) => Promise<RoundResult>

/** What a round has found. */
export interface RoundResult extends Tally {
  /** How many resources each part of it listed; one may be listed twice. */
  readonly listed: readonly { readonly scope: Scope; readonly rows: number }[]
  /** The kinds of lists that could not be read to their end. */
  readonly failed: readonly Kind[]
}

const KINDS = ['GitCommit', 'PullRequest'] as const
/** Claims that have lapsed come first. */
const PHASES = ['Progressing', 'Retrying', 'Pending'] as const
/** Pages of large namespaces in one round of a walk. */
const OWN_PAGES: Readonly<Record<Sweep, number>> = { unsettled: 100, full: 2_000 }
/** As many as events may wait in the sink. */
const MOST_POSTPONED = 10_000

interface Leg extends Walk {
  readonly scope: Scope
}

/**
 * Makes the rounds of a sweep. They must not overlap, because a round goes on where the one before has failed. A round
 * begins with all namespaces that have a few resources; large ones follow. Where not all events had room, the next round
 * begins with another namespace, chosen at random.
 */
export function makeRounds(sweeper: Sweeper, sweep: Sweep): Round {
  const legs = legsOf(sweeper.cluster, sweep)
  let first = ''
  let since = sweeper.cluster.now().getTime()

  return async function round(signal) {
    const { tally, select, hasRoom, announce } = makeAnnouncer(sweeper, { sweep, since }, signal)
    since = sweeper.cluster.now().getTime()
    const postponed: ListedResource[] = []
    const listed = legs.map(({ scope }) => ({ scope, rows: 0 }))
    const failed: Kind[] = []
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

    const guarded = async ({ scope }: Leg, work: () => Promise<void>): Promise<void> => {
      await work().catch((error: unknown) => {
        const resources = PLURALS[scope.kind]
        const fields = { sweep, resources, reason: reasonOf(error), origin: errorLogFields(error) }
        sweeper.log.warn(fields, 'a sweep failed; the next one continues')
        failed.push(scope.kind)
      })
    }
    const visitLarge = async (rows: readonly ListedResource[]): Promise<void> => announce(select(rows))
    for (const leg of legs) {
      await guarded(leg, () => leg.common({ visit: counting(leg, visit), hasRoom, signal }))
      await guarded(leg, () => announce(postponed.splice(0)))
    }
    for (const leg of legs)
      await guarded(leg, () => leg.large({ visit: counting(leg, visitLarge), hasRoom, signal }))
    first = tally.isCrowded ? namespaces.drawn() : ''
    return { ...tally, listed, failed }
  }
}

function legsOf(cluster: Pick<Cluster, 'listPage'>, sweep: Sweep): readonly Leg[] {
  const phases = sweep === 'full' ? [undefined] : PHASES
  const scopes = phases.flatMap((phase) => KINDS.map((kind) => ({ kind, phase })))
  return scopes.map((scope) => ({ scope, ...makeWalk(cluster, scope, OWN_PAGES[sweep]) }))
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
