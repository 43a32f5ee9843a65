import { errors } from 'undici'
import { Failure } from '../domain/failure.ts'

/** What it means that a request on a connection brought no answer; what is no matter of the network as it is. */
export function callFailure(error: unknown, host: string): unknown {
  if (error instanceof Failure) return error
  const code = codeOf(error)
  const what = UNUSABLE[error instanceof errors.HTTPParserError ? error.name : code]
  if (what !== undefined) return unusable(what, host, error)
  // A call that cannot be made at all is a bug.
  if (code === '' || code === 'UND_ERR_INVALID_ARG') return error
  const message = `${host} broke the connection off in the middle of the exchange; it is tried again.`
  return new Failure('NetworkError', message, { cause: error })
}

const UNUSABLE: Readonly<Record<string, string>> = {
  // Has no code of its own.
  HTTPParserError: 'something that is not HTTP',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'more than the 4 MiB that are read of an answer',
  UND_ERR_HEADERS_OVERFLOW: 'more headers than are read of an answer',
}

/** An answer that cannot be taken for one: `what` came instead. */
export function unusable(what: string, host: string, cause?: unknown): Failure {
  const message = `${host} answered with ${what}; it is tried again, and whoever runs that host has to look.`
  return new Failure('ProviderUnavailable', message, { cause })
}

/** The call, or the attempt, had no time left; `cause` is the signal's reason. */
export function late(host: string, cause: unknown): Failure {
  if (cause instanceof Failure) return cause
  return new Failure('Timeout', `${host} did not answer in time; it is tried again.`, { cause })
}

/** The code that Node or undici gives the error, or empty. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
