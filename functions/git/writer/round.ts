import { setTimeout as wait } from 'node:timers/promises'
import { asFailure, type Failure } from '../../domain/failure.ts'
import { REASONS } from '../../domain/reasons.ts'
import { isMoved } from '../branch.ts'
import type { Remote, Tip } from '../remote.ts'
import { afterPush } from './after-push.ts'
import { commitAndPush, type Written } from './commit-and-push.ts'
import { divide, leave, refuse } from './divided-work.ts'
import { doubtAll, searchedSince, settleFound, writtenOver } from './doubts.ts'
import { failAll, isWaitedFor, restOf, type PendingChange, type Settled } from './pending-change.ts'
import { isCommitsOnly, planCommits } from './plan-batch.ts'
import { again, isOpenIn, type Progress, type Work } from './work.ts'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 3_000
/** After so many rounds the pauses after lost races become longer as well. */
const SHORT_PAUSES = 10

/** What a round has seen of the branch. */
export interface RoundReport {
  /** Where the branch was; undefined: the remote was not asked. */
  readonly tip: string | undefined
  /** Where our push has moved it. */
  readonly head: string | undefined
  /** Others have moved it meanwhile. */
  readonly raced: boolean
  /** The remote has refused its commits. */
  readonly refused: boolean
  readonly milliseconds: number
  /** Of the changes that were to be pushed. */
  readonly namespaces: ReadonlySet<string>
}

/**
 * One round: reads the tip, settles what has landed already, writes the others' commits and pushes once. Answers what
 * is settled as soon as that is known, and at its end what is left to be done. What is bad before the push fails alone
 * and at once; where the remote refuses the commits, two halves are left. On a remembered tip there is a push or, where
 * anything else is to be said, another round. `report` is called at most once.
 * @throws Failure what the remote says before anything is written
 */
export async function* writeRound(
  remote: Remote,
  work: Work,
  report: (round: RoundReport) => void = () => undefined,
): AsyncGenerator<Settled, readonly Work[]> {
  const began = performance.now()
  const batch = work.batch.filter(isOpenIn(work))
  const [first] = batch
  if (first === undefined) return []
  const { doubts, suspect } = work
  const since = searchedSince(doubts, batch)
  const tip = await remote.readTip({ branch: first.change.branch, since, fresh: work.fresh === true })
  if (tip === 'moved') return yield* answer(anotherRound(remote, { ...work, batch }))
  if (suspect !== undefined && suspect.tip === tip.commit)
    return yield* answer(refuse({ ...work, batch }, suspect.failure))
  const found = await settleFound(remote, tip, { batch, doubts }).catch(unlessMoved)
  if (found === 'moved') return yield* answer(anotherRound(remote, { ...work, batch }))
  yield* some(found)
  // Reading may take long, and for a change that nobody waits for a later attempt may have written already.
  const left = restOf(batch, found).filter(isOpenIn(work))
  if (left.length === 0) return []
  return yield* writeLeft(remote, { ...work, batch: left }, tip, ({ pushed, head }) => {
    const milliseconds = performance.now() - began
    const landed = pushed?.kind === 'landed' ? head : undefined
    const raced = pushed?.kind === 'race'
    const refused = pushed?.kind === 'refused'
    const namespaces = new Set(left.map(({ change }) => change.namespace))
    report({
      tip: tip.remembered ? undefined : tip.commit,
      head: landed,
      raced,
      refused,
      milliseconds,
      namespaces,
    })
    return milliseconds
  })
}

/**
 * Plans, writes and pushes. A Failure on the way ends all that are left, unless one of them may be its cause. `ended` tells
 * how long the round took.
 */
async function* writeLeft(
  remote: Remote,
  work: Work,
  tip: Tip,
  ended: (written: Written) => number,
): AsyncGenerator<Settled, readonly Work[]> {
  let batch = work.batch
  const push = { begun: false }
  try {
    const plan = await planCommits(remote, tip, { batch, isShared: work.apart !== undefined })
    const over = writtenOver(work, batch, plan.seen)
    if (over.length > 0) return [{ ...work, batch, doubts: doubtAll(work.doubts, over), fresh: true }]
    const { unread } = plan
    // Or the server does not have one of the files, whose changes alone that is for.
    if (unread !== undefined && isMoved(unread))
      return yield* answer(
        anotherRound(remote, { ...work, batch, suspect: { tip: tip.commit, failure: unread } }),
      )
    // The files of one namespace may be the cause.
    if (unread !== undefined && isOfNamespace(unread, work)) throw unread
    // Of several changes they may be too large together, and each by itself not.
    if (unread?.reason === 'NotSupported' && batch.filter(isEdit).length > 1)
      return yield* answer(refuse({ ...work, batch }, unread))
    if (plan.isReadSlowly) work.keepApart?.(batch.filter(isEdit))
    yield* some(leave(remote, work, plan.slow))
    batch = batch.filter((pending) => !plan.slow.includes(pending))
    if (batch.length === 0) return []
    // Nothing but a push may rest on a remembered tip.
    if (tip.remembered && !isCommitsOnly(plan)) return [{ ...work, batch, fresh: true }]
    yield* some(plan.settled)
    batch = restOf(batch, plan.settled)
    const written = await commitAndPush(remote, tip, {
      ...plan,
      before: work.before ?? new Map(),
      isOpen: isOpenIn(work),
      pushing: () => void (push.begun = true),
    })
    const raceMs = ended(written)
    yield* some(written.settled)
    const next = { ...work, batch: written.rest.filter(isOpenIn(work)), raceMs }
    const gone = batch.filter((pending) => written.settled.has(pending) || !isWaitedFor(pending))
    return yield* answer(afterPush(remote, next, { written, tip, seen: plan.seen, gone }))
  } catch (error) {
    const failure = asFailure(error)
    // The memory was old, as another engine may have found out that has taken over.
    if (isMoved(error) && tip.remembered) return [{ ...work, batch, fresh: true }]
    if (isMoved(error)) return yield* answer(anotherRound(remote, { ...work, batch }))
    if (!push.begun && isOfNamespace(failure, work)) return yield* answer(divide(remote, { ...work, batch }))
    if (!push.begun && REASONS[failure.reason].dividedBy === 'change')
      return yield* answer(refuse({ ...work, batch }, failure))
    // The commits of one of them may be why its push has taken all of the time.
    if (push.begun) work.keepApart?.(batch)
    yield failAll(batch, failure)
    return []
  }
}

/** Another round, because the branch has moved before the push: that was no race. */
function anotherRound(remote: Remote, work: Work): Progress {
  return again(remote, { ...work, raceMs: undefined })
}

function unlessMoved(error: unknown): 'moved' {
  if (isMoved(error)) return 'moved'
  throw error
}

function isEdit({ change }: PendingChange): boolean {
  return change.files.some(({ edit }) => edit !== undefined)
}

/** Whether one of several namespaces may be the cause. */
export function isOfNamespace({ reason }: Failure, { apart }: Work): boolean {
  return REASONS[reason].dividedBy === 'namespace' && apart !== undefined
}

function* answer({ settled, rest }: Progress): Generator<Settled, readonly Work[]> {
  yield* some(settled)
  return rest
}

function* some(settled: Settled): Generator<Settled, void> {
  if (settled.size > 0) yield settled
}

/**
 * Full jitter before each round but the first: writers that met once do not meet again. After a lost race it is short,
 * for up to the time of a round: those who have won it wait for longer before they push again (../group-commit/branch-contention.ts).
 * Throws the signal's reason if it fires.
 */
export async function pauseBefore({ rounds, raceMs }: Work, signal: AbortSignal): Promise<void> {
  if (rounds === 0) return
  const longest =
    raceMs === undefined
      ? FIRST_PAUSE_MS * 2 ** (rounds - 1)
      : raceMs * 2 ** Math.max(0, rounds - SHORT_PAUSES)
  const pause = Math.random() * Math.min(LONGEST_PAUSE_MS, longest)
  // Its own error would not say why.
  await wait(pause, undefined, { signal }).catch(() => signal.throwIfAborted())
}
