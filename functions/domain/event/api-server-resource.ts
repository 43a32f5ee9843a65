import { Failure } from '../failure.ts'
import { member, textMember } from '../json-value.ts'
import { API_VERSION, PLURALS, REQUESTED_AT } from '../resource/api-names.ts'
import type { Kind } from '../resource/api-names.ts'
import type { Hint } from './hint.ts'
import { hintsAbout } from './object-ref.ts'

const DELETED = 'dev.knative.apiserver.resource.delete'
/** The types of an ApiServerSource in resource mode: https://knative.dev/docs/eventing/sources/apiserversource/ */
export const RESOURCE_TYPES = [
  'dev.knative.apiserver.resource.add',
  'dev.knative.apiserver.resource.update',
  DELETED,
] as const

/**
 * Reads the data of an event of an ApiServerSource in resource mode: the whole object, of which only the name is taken.
 * Throws InvalidSpec for data that is not an object of the API.
 */
export function readResourceEvent(data: unknown, type: string): readonly Hint[] {
  const metadata = member(data, 'metadata')
  if (metadata === undefined) {
    throw new Failure('InvalidSpec', 'The data of the event has to be an object of the Kubernetes API.')
  }
  const hints = hintsAbout(data, metadata)
  return type === DELETED || isHandled(data) ? [] : hints
}

/**
 * Whether the status of a resource of Commitlet is about its generation and its request, so that this state of it needs no
 * event: what is to be done later, a sweep finds. The writes of the status cause events as well, several for each attempt.
 */
export function isHandled(object: unknown): boolean {
  if (member(object, 'apiVersion') !== API_VERSION || !isKind(member(object, 'kind'))) return false
  const [metadata, status] = [member(object, 'metadata'), member(object, 'status')]
  const requested = textMember(member(metadata, 'annotations'), REQUESTED_AT) || undefined
  return (
    member(metadata, 'generation') === (member(status, 'observedGeneration') ?? -1) &&
    (requested === undefined || requested === member(status, 'lastHandledRequestedAt'))
  )
}

function isKind(kind: unknown): kind is Kind {
  return typeof kind === 'string' && Object.hasOwn(PLURALS, kind)
}
