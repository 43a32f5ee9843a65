import type { Remote, Tip } from '../remote.ts'
import { mayStillLand, type Written } from './commit-and-push.ts'
import { divideUnanswered, refuse } from './divided-work.ts'
import { doubtAll, isDoubtOfSession } from './doubts.ts'
import { failAll, isWaitedFor, namespaceOf, type PendingChange } from './pending-change.ts'
import type { Seen } from './plan-batch.ts'
import { again, type Progress, type Work } from './work.ts'

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
  // It is for another push, and has lost no race.
  if (pushed.kind === 'landed')
    return { settled: new Map(), rest: [{ ...next, rounds: 0, joined: new Map() }] }
  if (pushed.kind === 'unknown') return again(remote, { ...next, raceMs: undefined })
  const raced = new Set([...(work.raced ?? []), ...batch])
  const { unless: failure } = pushed
  const suspect = failure === undefined ? undefined : { tip: tip.commit, failure }
  // Nobody else need be at work on the branch now: the memory was old.
  if (tip.remembered) return { settled: new Map(), rest: [{ ...next, raced, suspect, fresh: true }] }
  return again(remote, { ...next, raced, suspect })
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
