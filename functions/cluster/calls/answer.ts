import { Failure } from '../../domain/failure.ts'
import { member, textMember } from '../../domain/json-value.ts'
import { MISSING, UNREADABLE } from '../../domain/resource/waiting.ts'
import type { ApiAnswer } from './exchange.ts'
import { parseSelected, type Selection } from './json-selection.ts'
import { OF_VERSION } from './selections.ts'

/**
 * Asks for the metadata alone, so that what an object holds is not sent. An aggregated API that cannot do that may send all:
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
 */
export const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'
/** In bytes. The metadata of an object has some 500 KiB at most: annotations, and who manages its fields. */
export const LARGEST_METADATA = 1024 * 1024

/** The JSON of the response if its status is 2xx; otherwise throws the Failure of `refusal`. */
export function bodyOf(answer: ApiAnswer, what: string, namedBy?: string): unknown {
  return read(answer, what, { namedBy, selection: 'whole' })
}

/** The same, of which only this is read: of an object that a user writes, metadata may hold a hundred thousand values. */
export function selectedOf(answer: ApiAnswer, what: string, selection: Selection): unknown {
  return read(answer, what, { selection })
}

/**
 * The Failure for a response that is not 2xx, with one sentence that names `what`. If rights are granted by name, a name
 * that does not exist is forbidden as well: `namedBy` is the field in which it may be mistyped.
 */
export function refusal(answer: ApiAnswer, what: string, namedBy?: string): Failure {
  const mistyped = namedBy === undefined ? '' : `fix ${namedBy} if it is mistyped, otherwise `
  switch (answer.status) {
    case 401:
      return accountRefused(
        `The API server does not accept Commitlet's own credentials, so ${what} could not be read; ask your Commitlet operator.`,
      )
    case 403:
      return accountRefused(
        `Commitlet's service account may not read ${what}; ${mistyped}ask your Commitlet operator to grant it \`get\`.`,
      )
    case 404:
      return new Failure('ReferenceNotFound', `There is no ${what}; create it, or fix its name in the spec.`)
    case 429:
      return new Failure(
        'RateLimited',
        `The API server is too busy to answer for ${what}; Commitlet retries automatically.`,
      )
    default:
      return new Failure(
        'ProviderUnavailable',
        `The API server answered ${answer.status} for ${what}; Commitlet retries automatically.`,
      )
  }
}

/** The API server refused Commitlet's own service account, which only the operator can fix. */
export function accountRefused(message: string): Failure {
  return new Failure('ReferenceForbidden', message, { retry: 'slow', accountRefused: true })
}

/** Uid and resourceVersion: another object, or another state of it, has another version. */
export function versionOf(metadata: unknown): string {
  return `${textMember(metadata, 'uid') ?? ''}/${textMember(metadata, 'resourceVersion') ?? ''}`
}

/** The version of an object that is there, and of which no more is known. */
export const UNREAD_VERSION = '/'

/** The version in the answer to a GET. Throws a Failure if the API server has not said whether there is such an object. */
export function versionIn(answer: ApiAnswer, what: string): string {
  if (answer.status === 404) return MISSING
  if (answer.status === 401 || answer.status === 403) return UNREADABLE
  return versionOf(member(selectedOf(answer, what, OF_VERSION), 'metadata'))
}

function read(
  answer: ApiAnswer,
  what: string,
  { namedBy, selection }: { readonly namedBy?: string | undefined; readonly selection: Selection },
): unknown {
  if (answer.status < 200 || answer.status > 299) throw refusal(answer, what, namedBy)
  try {
    return parseSelected(answer.text, selection)
  } catch (error) {
    const message = `The API server's answer for ${what} is not JSON; Commitlet retries automatically.`
    throw new Failure('ProviderUnavailable', message, { cause: error })
  }
}
