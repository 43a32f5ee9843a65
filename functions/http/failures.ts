import { errors } from 'undici'
import { Failure } from '../domain/failure.ts'

/**
 * The Failure for a request that got no answer; an error that has nothing to do with the network is returned as it is.
 */
export function callFailure(error: unknown, host: string): unknown {
  if (error instanceof Failure) return error
  const code = codeOf(error)
  const what = UNUSABLE[error instanceof errors.HTTPParserError ? error.name : code]
  if (what !== undefined) return unusable(what, host, error)
  // An invalid call is a bug.
  if (code === '' || code === 'UND_ERR_INVALID_ARG') return error
  const message = `${host} closed the connection in the middle of the exchange; Commitlet retries automatically.`
  return new Failure('NetworkError', message, { cause: error })
}

const UNUSABLE: Readonly<Record<string, string>> = {
  // This error has no code.
  HTTPParserError: 'something that is not HTTP',
  UND_ERR_HEADERS_OVERFLOW: 'more headers than the limit of an answer',
}

/** The Failure for an answer that cannot be used; `what` came instead. */
export function unusable(what: string, host: string, cause?: unknown): Failure {
  const message = `${host} answered with ${what}; Commitlet retries automatically, and the administrator of that host has to check it.`
  return new Failure('ProviderUnavailable', message, { cause })
}

/** The Failure for a call, or an attempt, that ran out of time; `cause` is the signal's reason. */
export function timedOut(host: string, cause: unknown): Failure {
  if (cause instanceof Failure) return cause
  return new Failure('Timeout', `${host} did not answer in time; Commitlet retries automatically.`, { cause })
}

/** The code that Node or undici gives the error, or empty. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
