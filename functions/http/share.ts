import type { Share } from '../domain/pull-request/pull-requests.ts'
import type { HTTPSettings } from './http.ts'

/** The share of this namespace in the thread, until the signal fires; undefined: it is not shared. */
export function shareOf(
  { workFor }: Pick<HTTPSettings, 'workFor'>,
  namespace: string,
  signal: AbortSignal,
): Share | undefined {
  return workFor && ((work) => workFor(namespace, work, signal))
}
