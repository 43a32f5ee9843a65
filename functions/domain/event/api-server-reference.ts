import type { Hint } from './hint.ts'
import { hintsAbout } from './object-ref.ts'

const DELETED = 'dev.knative.apiserver.ref.delete'
/** The types of an ApiServerSource in reference mode: https://knative.dev/docs/eventing/sources/apiserversource/ */
export const REFERENCE_TYPES = [
  'dev.knative.apiserver.ref.add',
  'dev.knative.apiserver.ref.update',
  DELETED,
] as const

/**
 * Reads the data of an event of an ApiServerSource in reference mode: an ObjectReference, which has no uid. Throws
 * InvalidSpec for other data.
 */
export function readReferenceEvent(data: unknown, type: string): readonly Hint[] {
  const hints = hintsAbout(data, data)
  return type === DELETED ? [] : hints
}
