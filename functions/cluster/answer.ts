import { Failure } from '../domain/failure.ts'
import type { ApiAnswer } from './api-server.ts'

/** The answer's JSON if its status is 2xx; otherwise throws the Failure that `refusal` makes. */
export function bodyOf(answer: ApiAnswer, what: string, namedBy?: string): unknown {
  if (answer.status < 200 || answer.status > 299) throw refusal(answer, what, namedBy)
  return parseBody(answer, what)
}

/**
 * What an answer that is not 2xx means: a Failure with one sentence that names `what`. Where rights are granted by
 * name, a name that does not exist is forbidden too: `namedBy` is the field where it may be mistyped.
 */
export function refusal(answer: ApiAnswer, what: string, namedBy?: string): Failure {
  const mistyped = namedBy === undefined ? '' : `fix ${namedBy} if it is mistyped, else `
  switch (answer.status) {
    case 401:
      return accountRefused(
        `The API server does not accept Commitlet's own credentials, so ${what} could not be read; ask whoever runs Commitlet.`,
      )
    case 403:
      return accountRefused(
        `Commitlet's service account may not read ${what}; ${mistyped}ask whoever runs Commitlet to grant it \`get\`.`,
      )
    case 404:
      return new Failure('ReferenceNotFound', `There is no ${what}; create it, or fix its name in the spec.`)
    case 429:
      return new Failure(
        'RateLimited',
        `The API server is too busy to answer for ${what}; it is tried again.`,
      )
    default:
      return new Failure(
        'ProviderUnavailable',
        `The API server answered ${answer.status} for ${what}; it is tried again.`,
      )
  }
}

/** The API server refused Commitlet's own service account: whoever runs Commitlet can fix that. */
export function accountRefused(message: string): Failure {
  return new Failure('ReferenceForbidden', message, { retry: 'slow', accountRefused: true })
}

function parseBody(answer: ApiAnswer, what: string): unknown {
  try {
    return JSON.parse(answer.text)
  } catch (error) {
    const message = `The API server's answer for ${what} is not JSON; it is tried again.`
    throw new Failure('ProviderUnavailable', message, { cause: error })
  }
}
