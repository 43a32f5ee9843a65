import { Failure } from '../../domain/failure.ts'
import type { Remote } from '../remote.ts'
import type { Doubts } from './doubts.ts'
import { failAll, isWaitedFor, restOf, type PendingChange, type Settled } from './pending-change.ts'
import { UNKNOWN, type Seen } from './plan-batch.ts'

/** How often a change is built again on a branch that others move, before it fails with Conflict. */
export const ROUNDS = 20

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
  /** Those of which a push is said to have lost its race. */
  readonly raced?: ReadonlySet<PendingChange>
  /** How long the round took that has come to its push, in milliseconds. Undefined: another reason has ended it. */
  readonly raceMs?: number | undefined
  /**
   * Of changes of several namespaces: takes away those of one that keep the others from their push, for ten minutes or so many
   * milliseconds. Left out: they are of one namespace.
   */
  readonly apart?: ((batch: readonly PendingChange[], milliseconds?: number) => void) | undefined
  /** Of such changes: lets later ones of their namespaces push by themselves, and takes none away. */
  readonly keepApart?: ((batch: readonly PendingChange[]) => void) | undefined
  /** Whether it is pushed otherwise by now, because this push takes too long: it is in no further one. */
  readonly hasLeft?: ((pending: PendingChange) => boolean) | undefined
  /** How often it was halved because the remote has refused its commits. */
  readonly halvings?: number
  /** What looked as if the branch had moved: where the tip is found unmoved, it was a refusal, or a file that is not there. */
  readonly suspect?: Suspect | undefined
}

interface Suspect {
  readonly tip: string | undefined
  readonly failure: Failure
}

/** What was settled, and what is to be done after it. */
export interface Progress {
  readonly settled: Settled
  readonly rest: readonly Work[]
}

/** Whether a change is still to be written by this work. */
export function isOpenIn({ hasLeft }: Work): (pending: PendingChange) => boolean {
  return (pending) => isWaitedFor(pending) && hasLeft?.(pending) !== true
}

/** Another round of those that may have one. */
export function again({ url }: Remote, work: Work): Progress {
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
