import { Failure } from '../../domain/failure.ts'
import type { Remote, Tip } from '../remote.ts'
import { mayStillLand, type Written } from './commit-and-push.ts'
import { doubtAll, isDoubtOfSession, type Doubts } from './doubts.ts'
import { failAll, isWaitedFor, restOf, type PendingChange, type Settled } from './pending-change.ts'
import { UNKNOWN, type Seen } from './plan-batch.ts'

/** How often a change is built again on a branch that others move, before it fails with Conflict. */
export const ROUNDS = 20

/** Each half of what took so long without an answer may take as long again, and the others wait for it. */
const SLOW_MS = 10_000

/**
 * How often what is refused of several namespaces is halved. Where many have commits that are refused, nearly each part has some, and
 * takes a push: then each namespace pushes by itself for a while, in turns with the others.
 */
const MOST_HALVINGS = 2
const BY_THEMSELVES_MS = 30_000

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
  /** How long the round took that has come to its push, in milliseconds. Undefined: another reason has ended it. */
  readonly raceMs?: number | undefined
  /**
   * Of changes of several namespaces: takes away those of one that keep the others from their push, for ten minutes or so many
   * milliseconds. Left out: they are of one namespace.
   */
  readonly apart?: ((batch: readonly PendingChange[], milliseconds?: number) => void) | undefined
  /** Of such changes: lets later ones of their namespaces push by themselves, and takes none away. */
  readonly keepApart?: ((batch: readonly PendingChange[]) => void) | undefined
  /** How often it was halved because the remote has refused its commits. */
  readonly halvings?: number
  /** A push that looked like a lost race: where the tip is found unmoved, it was a refusal. */
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

/** A round that has come to its push. */
export interface Pushing {
  readonly written: Written
  readonly tip: Tip
  readonly seen: Seen
  readonly gone: readonly PendingChange[]
}

/**
 * What is left after a round's push, or where it had none to make. `gone`: changes that were given up in it; where they
 * are why it had none, others of their namespaces may be next.
 */
export function afterPush(remote: Remote, work: Work, { written, tip, seen, gone }: Pushing): Progress {
  const { batch } = work
  const { pushed } = written
  if (batch.length === 0) return { settled: new Map(), rest: [] }
  if (pushed === undefined) return { settled: new Map(), rest: withoutNamespacesOf(gone, work) }
  const isLate = mayStillLand(pushed)
  const doubts = isLate ? doubtAll(work.doubts, batch) : work.doubts
  const next = { ...work, doubts, before: seen, suspect: undefined }
  if (pushed.kind === 'refused' && isLate && !pushed.each) return divideUnanswered(next, pushed.failure)
  if (pushed.kind === 'refused') {
    const isOfOne = pushed.said === true || pushed.failure.reason === 'PushRejected'
    const isDivided = pushed.each || (isOfOne && work.apart !== undefined)
    return isDivided
      ? refuse(isLate ? next : work, pushed.failure)
      : { settled: failAll(batch, pushed.failure), rest: [] }
  }
  if (pushed.kind === 'unknown') return again(remote, { ...next, raceMs: undefined })
  const failure = pushed.kind === 'race' ? pushed.unless : undefined
  const suspect = failure === undefined ? undefined : { tip: tip.commit, failure }
  // Nobody else need be at work on the branch now: the memory was old.
  if (tip.remembered) return { settled: new Map(), rest: [{ ...next, suspect, fresh: true }] }
  return again(remote, { ...next, suspect })
}

/**
 * What is left after a push without an answer. The commits of one namespace may be what the server ends at, each time: halves
 * of several namespaces, until it stands alone, whose failure it is. What was pushed may still be carried out, so it
 * stays in this session, and is searched for. After a long time all fail, and are tried again by themselves.
 */
function divideUnanswered(work: Work, failure: Failure): Progress {
  const { batch, apart, keepApart, raceMs = 0 } = work
  const mayDivide = apart !== undefined && !isOfOne(batch) && raceMs < SLOW_MS
  if (mayDivide && failure.retryAfterSeconds === undefined)
    return { settled: new Map(), rest: halvesOf(work) }
  keepApart?.(batch)
  return { settled: failAll(batch, failure), rest: [] }
}

/** They leave the batch to those who have not delayed it, unless a push of this session may still make one of them. */
function withoutNamespacesOf(gone: readonly PendingChange[], work: Work): readonly Work[] {
  const { batch, doubts, apart } = work
  const namespaces = new Set(gone.map(namespaceOf))
  const leaving = batch.filter((pending) => namespaces.has(namespaceOf(pending)))
  const staying = batch.filter((pending) => !namespaces.has(namespaceOf(pending)))
  if (apart === undefined || staying.length === 0) return [work]
  if (leaving.some((pending) => isDoubtOfSession(doubts, pending))) return [work]
  apart(leaving.filter(isWaitedFor))
  return [{ ...work, batch: staying }]
}

/**
 * What is left after the commits were refused. One of them may be the bad one: halves, until it stands alone. Of several
 * namespaces, halves of these, and then each by itself: what is bad of one is for its own pushes to find, however much it is. What
 * a push of this session may still make stays in it, because only here is that known.
 */
export function refuse(work: Work, failure: Failure): Progress {
  const { batch, apart, halvings = 0 } = work
  const isAlone = isOfOne(batch)
  const leaving = batch.filter((pending) => !isOfSession(pending, work))
  const mayLeave = isAlone ? leaving.length === batch.length : halvings >= MOST_HALVINGS
  if (apart !== undefined && mayLeave && leaving.length > 0) {
    apart(leaving.filter(isWaitedFor), isAlone ? undefined : BY_THEMSELVES_MS)
    const staying = batch.filter((pending) => !leaving.includes(pending))
    return { settled: new Map(), rest: staying.length === 0 ? [] : [partOf(work, staying)] }
  }
  if (batch.length === 1) return { settled: failAll(batch, failure), rest: [] }
  const halves = halvesOf(work).map((half) => ({ ...half, halvings: halvings + 1 }))
  return { settled: new Map(), rest: halves }
}

/**
 * What is left of a batch that cannot be built in this session, be it that some of its changes have used up what it may
 * fetch: halves of several namespaces, until each goes on by itself.
 */
export function divide(remote: Remote, work: Work): Progress {
  const { batch } = work
  if (isOfOne(batch)) return { settled: leave(remote, work, batch), rest: [] }
  return { settled: new Map(), rest: halvesOf(work) }
}

/**
 * Changes leave the batch to those that they keep waiting: they, and later ones of their namespaces, push by themselves.
 * What only this session knows enough of ends, and is tried again.
 */
export function leave({ url }: Remote, work: Work, leaving: readonly PendingChange[]): Settled {
  const ending = leaving.filter((pending) => isOfSession(pending, work))
  work.keepApart?.(ending)
  work.apart?.(leaving.filter((pending) => !ending.includes(pending) && isWaitedFor(pending)))
  const message = `The commit could not be made together with those of other namespaces for the same branch of ${url}; it is tried again without them.`
  return failAll(ending, new Failure('Conflict', message))
}

/** Whether a push of this session may still make its commit, or it is known here what others have written meanwhile. */
function isOfSession(pending: PendingChange, { doubts, before }: Work): boolean {
  return isDoubtOfSession(doubts, pending) || before?.has(pending) === true
}

function isOfOne(batch: readonly PendingChange[]): boolean {
  return new Set(batch.map(namespaceOf)).size === 1
}

/** Of several namespaces, halves of these. */
function halvesOf(work: Work): readonly Work[] {
  const { batch } = work
  const namespaces = [...new Set(batch.map(namespaceOf))]
  const first = new Set(namespaces.slice(0, Math.floor(namespaces.length / 2)))
  const middle = Math.floor(batch.length / 2)
  const isFirst = (pending: PendingChange, i: number): boolean =>
    namespaces.length > 1 ? first.has(namespaceOf(pending)) : i < middle
  const halves = [batch.filter(isFirst), batch.filter((pending, i) => !isFirst(pending, i))]
  return halves.map((half) => partOf(work, half))
}

/** Begins again with these. */
function partOf({ doubts, before, apart, keepApart }: Work, batch: readonly PendingChange[]): Work {
  return { batch, doubts, rounds: 0, apart, keepApart, ...(before === undefined ? {} : { before }) }
}

function namespaceOf({ change }: PendingChange): string {
  return change.namespace
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
