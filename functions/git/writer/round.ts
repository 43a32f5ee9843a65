import { setTimeout as wait } from 'node:timers/promises'
import { asFailure, Failure } from '../../domain/failure.ts'
import type { Remote, Tip } from '../remote.ts'
import {
  commitAndPush,
  isCommitsOnly,
  planCommits,
  UNKNOWN,
  type Seen,
  type Written,
} from './commit-and-push.ts'
import { doubtAll, isDoubtOfSession, searchedSince, settleFound, type Doubts } from './doubts.ts'
import { failAll, isWaitedFor, restOf, type PendingChange, type Settled } from './pending-change.ts'

/** How often a change is built again on a branch that others move, before it fails with Conflict. */
export const ROUNDS = 20

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 3_000
/** After so many rounds the pauses after lost races become longer as well. */
const SHORT_PAUSES = 10

/** Changes of one branch that are still to be written, and what earlier rounds have found out. */
export interface Work {
  /** At least one; each is waited for when the round begins, or is left out. */
  readonly batch: readonly PendingChange[]
  readonly doubts: Doubts
  /** Rounds that the work has behind it. */
  readonly rounds: number
  /** How many of them were over when a change joined the others; without an entry it was there from the beginning. */
  readonly joined?: ReadonlyMap<PendingChange, number>
  /** Changes that come meanwhile may join: the remote has not refused any of its commits. */
  readonly whole?: true
  /** The remote has to be asked for the tip. */
  readonly fresh?: true
  /** Of the changes that have lost a race, or may have: what the tip held at their paths then, or UNKNOWN. */
  readonly before?: Seen
  /** How long the round took that has lost a race, in milliseconds. Undefined: another reason has ended it. */
  readonly raceMs?: number | undefined
  /**
   * Of changes of several namespaces: takes away those of one that are refused, which are halved without the others. Left
   * out: they are of one namespace.
   */
  readonly apart?: ((batch: readonly PendingChange[]) => void) | undefined
  /** A push that looked like a lost race: where the tip is found unmoved, it was a refusal. */
  readonly suspect?: Suspect | undefined
}

/** What a round has seen of the branch. */
export interface RoundReport {
  /** Where the branch was; undefined: the remote was not asked. */
  readonly tip: string | undefined
  /** Where our push has moved it. */
  readonly head: string | undefined
  /** Others have moved it meanwhile. */
  readonly raced: boolean
  readonly milliseconds: number
}

interface Suspect {
  readonly tip: string | undefined
  readonly failure: Failure
}

/** What was settled, and what is to be done after it. */
interface Progress {
  readonly settled: Settled
  readonly rest: readonly Work[]
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
  const batch = work.batch.filter(isWaitedFor)
  const [first] = batch
  if (first === undefined) return []
  const { doubts, suspect } = work
  const since = searchedSince(doubts, batch)
  const tip = await remote.readTip({ branch: first.change.branch, since, fresh: work.fresh === true })
  if (tip === 'moved') return yield* answer(again(remote, { ...work, batch, raceMs: undefined }))
  if (suspect !== undefined && suspect.tip === tip.commit)
    return yield* answer(refuse({ ...work, batch }, suspect.failure))
  const found = await settleFound(remote, tip, { batch, doubts })
  yield* some(found)
  // Reading may take long, and for a change that nobody waits for a later attempt may have written already.
  const left = restOf(batch, found).filter(isWaitedFor)
  if (left.length === 0) return []
  return yield* writeLeft(remote, { ...work, batch: left }, tip, ({ pushed, head }) => {
    const milliseconds = performance.now() - began
    const landed = pushed?.kind === 'landed' ? head : undefined
    const raced = pushed?.kind === 'race'
    report({ tip: tip.remembered ? undefined : tip.commit, head: landed, raced, milliseconds })
    return milliseconds
  })
}

/** Plans, writes and pushes; a Failure on the way ends all that are left, but that of a signer only its own change. `ended` tells how long the round took. */
async function* writeLeft(
  remote: Remote,
  work: Work,
  tip: Tip,
  ended: (written: Written) => number,
): AsyncGenerator<Settled, readonly Work[]> {
  let batch = work.batch
  try {
    const plan = await planCommits(remote, tip, batch)
    // Nothing but a push may rest on a remembered tip.
    if (tip.remembered && !isCommitsOnly(plan)) return [{ ...work, fresh: true }]
    yield* some(plan.settled)
    batch = restOf(batch, plan.settled)
    const written = await commitAndPush(remote, tip, { ...plan, before: work.before ?? new Map() })
    const raceMs = ended(written)
    yield* some(written.settled)
    const next = { ...work, batch: written.rest, raceMs }
    return yield* answer(after(remote, next, { written, tip, seen: plan.seen }))
  } catch (error) {
    const failure = asFailure(error)
    // Of this reason only a signer fails here, and the others of the batch have keys of their own.
    if (failure.reason === 'CredentialsInvalid') return yield* answer(refuse({ ...work, batch }, failure))
    yield failAll(batch, failure)
    return []
  }
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
 */
export async function pauseBefore({ rounds, raceMs }: Work, signal: AbortSignal): Promise<void> {
  if (rounds === 0) return
  const longest =
    raceMs === undefined
      ? FIRST_PAUSE_MS * 2 ** (rounds - 1)
      : raceMs * 2 ** Math.max(0, rounds - SHORT_PAUSES)
  await wait(Math.random() * Math.min(LONGEST_PAUSE_MS, longest), undefined, { signal })
}

interface Pushing {
  readonly written: Written
  readonly tip: Tip
  readonly seen: Seen
}

function after(remote: Remote, work: Work, { written, tip, seen }: Pushing): Progress {
  const { batch, doubts } = work
  const { pushed } = written
  if (batch.length === 0) return { settled: new Map(), rest: [] }
  if (pushed === undefined) return { settled: new Map(), rest: [work] }
  if (pushed.kind === 'refused')
    return pushed.each ? refuse(work, pushed.failure) : { settled: failAll(batch, pushed.failure), rest: [] }
  const next = { ...work, before: seen, suspect: undefined }
  if (pushed.kind === 'unknown')
    return again(remote, { ...next, doubts: doubtAll(doubts, batch), raceMs: undefined })
  const failure = pushed.kind === 'race' ? pushed.unless : undefined
  const suspect = failure === undefined ? undefined : { tip: tip.commit, failure }
  // Nobody else need be at work on the branch now: the memory was old.
  if (tip.remembered) return { settled: new Map(), rest: [{ ...next, suspect, fresh: true }] }
  return again(remote, { ...next, suspect })
}

/**
 * One of them may be the bad one: halves, until it stands alone. Of several namespaces, halves of these: what is bad of one
 * is then for its own pushes to find, however much it is. What a push of this session may still make stays in it, because
 * only here is that known.
 */
function refuse({ batch, doubts, apart }: Work, failure: Failure): Progress {
  const namespaces = [...new Set(batch.map(namespaceOf))]
  if (
    namespaces.length === 1 &&
    apart !== undefined &&
    !batch.some((pending) => isDoubtOfSession(doubts, pending))
  ) {
    apart(batch)
    return { settled: new Map(), rest: [] }
  }
  if (batch.length === 1) return { settled: failAll(batch, failure), rest: [] }
  const first = new Set(namespaces.slice(0, Math.floor(namespaces.length / 2)))
  const middle = Math.floor(batch.length / 2)
  const isFirst = (pending: PendingChange, i: number): boolean =>
    namespaces.length > 1 ? first.has(namespaceOf(pending)) : i < middle
  const halves = [batch.filter(isFirst), batch.filter((pending, i) => !isFirst(pending, i))]
  return { settled: new Map(), rest: halves.map((half) => ({ batch: half, doubts, rounds: 0, apart })) }
}

function namespaceOf({ change }: PendingChange): string {
  return change.namespace
}

/** Another round of those that may have one. */
function again({ url }: Remote, work: Work): Progress {
  const { batch, joined, before } = work
  const rounds = work.rounds + 1
  const lost = batch.filter((pending) => rounds - (joined?.get(pending) ?? 0) >= ROUNDS)
  const failure = new Failure(
    'Conflict',
    `Other writers moved the branch of ${url} ${ROUNDS} times while the commit was on its way; it is tried again.`,
  )
  const settled = failAll(lost, failure)
  const left = restOf(batch, settled)
  if (left.length === 0) return { settled, rest: [] }
  // Their paths may not have been read in this round.
  const seen = new Map(left.map((pending) => [pending, before?.get(pending) ?? UNKNOWN]))
  return { settled, rest: [{ ...work, batch: left, before: seen, rounds, fresh: true }] }
}
