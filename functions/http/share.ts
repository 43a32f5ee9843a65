import type { Share } from '../domain/pull-request/pull-requests.ts'
import type { HTTPSettings } from './http.ts'

/** Where nobody else needs the thread. */
export const atOnce: Share = (work) => Promise.resolve().then(work)

/** The share of this namespace in the thread, until the signal fires. */
export function shareOf(
  { workFor }: Pick<HTTPSettings, 'workFor'>,
  namespace: string,
  signal: AbortSignal,
): Share {
  if (workFor === undefined) return atOnce
  return (work, isUrgent) => workFor(namespace, work, signal, isUrgent)
}
