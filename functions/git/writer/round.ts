import { setTimeout as wait } from 'node:timers/promises'
import { asFailure, Failure } from '../../domain/failure.ts'
import type { Remote, Tip } from '../remote.ts'
import { commitAndPush, isCommitsOnly, planCommits, type Seen, type Written } from './commit-and-push.ts'
import { doubtAll, searchedSince, settleFound, type Doubts } from './doubts.ts'
import { failAll, isWaitedFor, restOf, type PendingChange, type Settled } from './pending-change.ts'

/** How often a batch is built again on a branch that others move, before it fails with Conflict. */
export const ROUNDS = 10

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 3000

/** Changes of one branch that are still to be written, and what earlier rounds have found out. */
export interface Work {
  /** At least one; each is waited for when the round begins, or is left out. */
  readonly batch: readonly PendingChange[]
  readonly doubts: Doubts
  /** Rounds that these changes have behind them. */
  readonly rounds: number
  /** The remote has to be asked for the tip. */
  readonly fresh?: true
  /** Others have moved the branch, or may have. */
  readonly raced?: true
  /** What the tip of the round before held at the paths; without an entry it is not known. */
  readonly seen?: Seen
  /** A push that looked like a lost race: where the tip is found unmoved, it was a refusal. */
  readonly suspect?: Suspect | undefined
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
 * anything else is to be said, another round.
 * @throws Failure what the remote says before anything is written
 */
export async function* writeRound(remote: Remote, work: Work): AsyncGenerator<Settled, readonly Work[]> {
  const batch = work.batch.filter(isWaitedFor)
  const [first] = batch
  if (first === undefined) return []
  const { doubts, suspect, fresh = false } = work
  const since = searchedSince(doubts, batch)
  const tip = await remote.readTip({ branch: first.change.branch, since, fresh })
  if (tip === 'moved') return yield* answer(again(remote, { ...work, batch }))
  if (suspect !== undefined && suspect.tip === tip.commit)
    return yield* answer(refuse({ ...work, batch }, suspect.failure))
  const found = await settleFound(remote, tip, { batch, doubts })
  yield* some(found)
  // Reading may take long, and for a change that nobody waits for a later attempt may have written already.
  const left = restOf(batch, found).filter(isWaitedFor)
  return left.length === 0 ? [] : yield* writeLeft(remote, { ...work, batch: left }, tip)
}

/** Plans, writes and pushes; a Failure on the way ends all that are left. */
async function* writeLeft(remote: Remote, work: Work, tip: Tip): AsyncGenerator<Settled, readonly Work[]> {
  let batch = work.batch
  try {
    const plan = await planCommits(remote, tip, batch)
    // Nothing but a push may rest on a remembered tip.
    if (tip.remembered && !isCommitsOnly(plan)) return [{ ...work, fresh: true }]
    yield* some(plan.settled)
    batch = restOf(batch, plan.settled)
    const before = work.raced === true ? (work.seen ?? new Map()) : undefined
    const written = await commitAndPush(remote, tip, { ...plan, before })
    yield* some(written.settled)
    const { seen } = plan
    return yield* answer(after(remote, { ...work, batch: written.rest, seen }, { written, tip }))
  } catch (error) {
    yield failAll(batch, asFailure(error))
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

/** Full jitter before each round but the first: writers that met once do not meet again. */
export async function pauseBefore({ rounds }: Work, signal: AbortSignal): Promise<void> {
  if (rounds === 0) return
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (rounds - 1))
  await wait(Math.random() * longest, undefined, { signal })
}

function after(
  remote: Remote,
  work: Work,
  { written, tip }: { readonly written: Written; readonly tip: Tip },
): Progress {
  const { batch, doubts } = work
  const { pushed } = written
  if (batch.length === 0) return { settled: new Map(), rest: [] }
  if (pushed === undefined) return { settled: new Map(), rest: [work] }
  if (pushed.kind === 'refused')
    return pushed.each ? refuse(work, pushed.failure) : { settled: failAll(batch, pushed.failure), rest: [] }
  if (pushed.kind === 'unknown')
    return again(remote, { ...work, doubts: doubtAll(doubts, batch), suspect: undefined })
  const failure = pushed.kind === 'race' ? pushed.unless : undefined
  const next = { ...work, suspect: failure === undefined ? undefined : { tip: tip.commit, failure } }
  // Nobody else need be at work on the branch now: the memory was old.
  if (tip.remembered) return { settled: new Map(), rest: [{ ...next, fresh: true, raced: true }] }
  return again(remote, next)
}

/** One of them may be the bad one: halves, until it stands alone. */
function refuse({ batch, doubts }: Work, failure: Failure): Progress {
  if (batch.length === 1) return { settled: failAll(batch, failure), rest: [] }
  const middle = Math.floor(batch.length / 2)
  const halves = [batch.slice(0, middle), batch.slice(middle)]
  return { settled: new Map(), rest: halves.map((half) => ({ batch: half, doubts, rounds: 0 })) }
}

function again({ url }: Remote, work: Work): Progress {
  const rounds = work.rounds + 1
  if (rounds < ROUNDS) return { settled: new Map(), rest: [{ ...work, rounds, fresh: true, raced: true }] }
  const lost = new Failure(
    'Conflict',
    `Other writers moved the branch of ${url} ${ROUNDS} times while the commit was on its way; it is tried again.`,
  )
  return { settled: failAll(work.batch, lost), rest: [] }
}
