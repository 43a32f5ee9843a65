import { Failure } from '../../domain/failure.ts'
import type { Remote } from '../remote.ts'
import { isDoubtOfSession } from './doubts.ts'
import { failAll, isWaitedFor, namespaceOf, type PendingChange, type Settled } from './pending-change.ts'
import type { Progress, Work } from './work.ts'

/** Each half of what took so long without an answer may take as long again, and the others wait for it. */
const SLOW_MS = 10_000

/**
 * How often what is refused of several namespaces is halved. Where many have commits that are refused, nearly each part has some, and
 * takes a push: then each namespace pushes by itself for a while, in turns with the others.
 */
const MOST_HALVINGS = 2
const BY_THEMSELVES_MS = 30_000

/**
 * What is left after a push without an answer. The commits of one namespace may be what the server ends at, each time: halves
 * of several namespaces, until it stands alone, whose failure it is. What was pushed may still be carried out, so it
 * stays in this session, and is searched for. After a long time all fail, and are tried again by themselves.
 */
export function divideUnanswered(work: Work, failure: Failure): Progress {
  const { batch, apart, keepApart, raceMs = 0 } = work
  const mayDivide = apart !== undefined && !isOfOne(batch) && raceMs < SLOW_MS
  if (mayDivide && failure.retryAfterSeconds === undefined)
    return { settled: new Map(), rest: halvesOf(work) }
  keepApart?.(batch)
  return { settled: failAll(batch, failure), rest: [] }
}

/**
 * What is left after the commits were refused. One of them may be the bad one: halves, until it stands alone. Of several
 * namespaces, halves of these, and then each by itself: what is bad of one is for its own pushes to find, however much it is. What
 * a push of this session may still make stays in it, because only here is that known.
 */
export function refuse(work: Work, failure: Failure): Progress {
  const { batch, doubts, apart, halvings = 0 } = work
  const isAlone = isOfOne(batch)
  const leaving = batch.filter((pending) => !isDoubtOfSession(doubts, pending))
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
  const ending = leaving.filter((pending) => isDoubtOfSession(work.doubts, pending))
  work.keepApart?.(ending)
  work.apart?.(leaving.filter((pending) => !ending.includes(pending) && isWaitedFor(pending)))
  const message = `The commit could not be made together with those of other namespaces for the same branch of ${url}; it is tried again without them.`
  return failAll(ending, new Failure('Conflict', message))
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
function partOf(
  { doubts, before, raced, apart, keepApart, hasLeft }: Work,
  batch: readonly PendingChange[],
): Work {
  const seen = { ...(before === undefined ? {} : { before }), ...(raced === undefined ? {} : { raced }) }
  return { batch, doubts, rounds: 0, apart, keepApart, hasLeft, ...seen }
}
