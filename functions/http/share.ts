import type { Share } from '../domain/pull-request/pull-requests.ts'
import type { HTTPSettings } from './http.ts'

/** The share of this namespace in the thread, until the signal fires. Without `workFor` nobody else needs it. */
export function shareOf(
  { workFor }: Pick<HTTPSettings, 'workFor'>,
  namespace: string,
  signal: AbortSignal,
): Share {
  if (workFor === undefined) return (work) => Promise.resolve().then(work)
  return (work, isUrgent) => workFor(namespace, work, signal, isUrgent)
}
