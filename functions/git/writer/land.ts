import { asFailure } from '../../domain/failure.ts'
import type { Remote } from '../remote.ts'
import { firstDoubts } from './doubts.ts'
import { failAll, namespaceOf, type PendingChange, type Settled } from './pending-change.ts'
import { isOfNamespace, pauseBefore, writeRound, type RoundReport } from './round.ts'
import { leave } from './divided-work.ts'
import type { Work } from './work.ts'

/** Changes of one repository, branch and login, for one session. */
export interface Landing {
  readonly batch: readonly PendingChange[]
  /** Fires when nobody waits for any of them. */
  readonly signal: AbortSignal
  /** Others write to the branch as well: its remembered tip is old. Default: nobody does. */
  readonly contended?: boolean
  /** Waits, before each round but the first, until no other login of the pod pushes to the branch. Default: at once. */
  readonly turnAgain?: (namespaces: Iterable<string>, signal: AbortSignal) => Promise<void>
  /** Changes that have come meanwhile and go with these, which are built again. Default: none. */
  readonly join?: (batch: readonly PendingChange[]) => readonly PendingChange[]
  /** Takes those away that are refused of a namespace, where there are several; see Work. Default: nobody does. */
  readonly apart?: Work['apart']
  /** Told of those whose later changes push by themselves; see Work. Default: nobody is. */
  readonly keepApart?: (batch: readonly PendingChange[]) => void
  /** See Work. Default: all stay. */
  readonly hasLeft?: Work['hasLeft']
  /** Called after each round that has come to its push. */
  readonly roundEnded?: (round: RoundReport) => void
}

/**
 * Writes a batch in rounds, and answers what is settled as soon as that is known. At the end each change that was waited for is
 * settled. A batch that the remote refuses because of its commits is halved until the bad ones stand alone. One that has
 * lost a race takes up what has come meanwhile: it costs another push anyway.
 */
export async function* land(remote: Remote, landing: Landing): AsyncGenerator<Settled, void> {
  const { batch, contended = false, hasLeft } = landing
  const first: Work = { batch, doubts: firstDoubts(batch), rounds: 0, whole: true, hasLeft }
  const left: Work[] = [contended ? { ...first, fresh: true } : first]
  let isFirst = true
  for (let work = left.pop(); work !== undefined; work = left.pop()) {
    const rest = yield* tryRound(remote, work, { ...landing, isFirst })
    left.push(...rest.toReversed())
    isFirst = false
  }
}

/** A Failure before anything is written ends all of the round's changes. */
async function* tryRound(
  remote: Remote,
  work: Work,
  landing: Landing & { readonly isFirst: boolean },
): AsyncGenerator<Settled, readonly Work[]> {
  let round = work
  try {
    await pauseBefore(work, landing.signal)
    if (!landing.isFirst) await landing.turnAgain?.(namespacesOf(work.batch), landing.signal)
    const grown = withMore(work, landing)
    const { apart, keepApart } = work.apart === undefined && isOfSeveral(grown.batch) ? landing : work
    round = { ...grown, apart, keepApart }
    return yield* writeRound(remote, round, landing.roundEnded)
  } catch (error) {
    const failure = asFailure(error)
    const isOfSession = isOfNamespace(failure, round)
    yield isOfSession ? leave(remote, round, round.batch) : failAll(round.batch, failure)
    return []
  }
}

/** With what has come meanwhile. A push that may have been refused is judged by its own changes alone. */
function withMore(work: Work, { join, signal }: Landing): Work {
  const { batch, before, whole, suspect, rounds } = work
  if (join === undefined || before === undefined || suspect !== undefined) return work
  if (whole !== true || signal.aborted) return work
  const more = join(batch)
  const joined = new Map([...(work.joined ?? []), ...more.map((pending) => [pending, rounds] as const)])
  const doubts = new Map([...work.doubts, ...firstDoubts(more)])
  return { ...work, batch: [...batch, ...more], doubts, joined }
}

function isOfSeveral(batch: readonly PendingChange[]): boolean {
  return namespacesOf(batch).size > 1
}

function namespacesOf(batch: readonly PendingChange[]): ReadonlySet<string> {
  return new Set(batch.map(namespaceOf))
}
