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
  const own = waiters.filter(({ holder }) => holder.namespace === namespace)
  if (own.length >= perNamespace) return 'none'
  if (waiters.length >= total) return lastOfMost(waiters, namespace)
  const ofHost = waiters.filter(({ holder }) => holder.host === host)
  return ofHost.length >= perHost ? lastOfMost(ofHost, namespace) : 'free'
}

/** The same with a newcomer: those who had a turn before hold something meanwhile, and are next of their namespace. */
export function inLine<T extends Waiting>(waiters: readonly T[], newcomer: T): readonly T[] {
  const first = newcomer.holder.resumes === true ? waiters.findIndex(({ holder }) => !holder.resumes) : -1
  return first < 0 ? [...waiters, newcomer] : waiters.toSpliced(first, 0, newcomer)
}

function lastOfMost<T extends Waiting>(waiters: readonly T[], newcomer: string): 'none' | T {
  const byNamespace = Map.groupBy(waiters, ({ holder }) => holder.namespace)
  const countOf = (namespace: string): number => byNamespace.get(namespace)?.length ?? 0
  const most = Math.max(...[...byNamespace.keys()].map(countOf))
  if (most <= countOf(newcomer) + 1) return 'none'
  const last = waiters.findLast(
    ({ holder }) => countOf(holder.namespace) === most && holder.admitted !== true,
  )
  return last ?? 'none'
}

/** What ends a wait for which there is no place, or no longer one. */
export function busy(): Failure {
  return new Failure('Conflict', 'Too many attempts are waiting to start; Commitlet retries automatically.')
}

/** What ends a change that is larger than what may be kept of it until its push. */
export function tooMuch(): Failure {
  const message =
    'The files take more memory than others that wait for their push leave at the moment; Commitlet retries automatically.'
  return new Failure('Conflict', message)
}
