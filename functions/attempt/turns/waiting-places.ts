import { Failure } from '../../domain/failure.ts'
import type { Holder } from '../../world.ts'
import type { WaitingBound } from './lane-bounds.ts'

interface Waiting {
  readonly holder: Holder
}

/**
 * The place to wait of a newcomer: a free one, none, or that of the one who gives way. Where all are taken, that is the last who
 * has come of the namespace that has most of them, unless the newcomer's would have as many.
 */
export function placeFor<T extends Waiting>(
  { total, perNamespace, perHost }: WaitingBound,
  waiters: readonly T[],
  { namespace, host }: Holder,
): 'free' | 'none' | T {
  const ofHost = waiters.filter(({ holder }) => holder.host === host)
  if (countOf(waiters, namespace) >= perNamespace) return 'none'
  if (waiters.length >= total) return lastOfMost(waiters, namespace)
  return ofHost.length >= perHost ? lastOfMost(ofHost, namespace) : 'free'
}

function lastOfMost<T extends Waiting>(waiters: readonly T[], newcomer: string): 'none' | T {
  const counts = new Map<string, number>()
  for (const { holder } of waiters) counts.set(holder.namespace, (counts.get(holder.namespace) ?? 0) + 1)
  const most = Math.max(...counts.values())
  if (most <= (counts.get(newcomer) ?? 0) + 1) return 'none'
  const last = waiters.findLast(
    ({ holder }) => counts.get(holder.namespace) === most && holder.admitted !== true,
  )
  return last ?? 'none'
}

function countOf(waiters: readonly Waiting[], namespace: string): number {
  return waiters.filter(({ holder }) => holder.namespace === namespace).length
}

/** What ends a wait for which there is no place, or no longer one. */
export function busy(): Failure {
  return new Failure('Conflict', 'Too many attempts are waiting to start; Commitlet retries automatically.')
}
