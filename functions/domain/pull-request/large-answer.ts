import { Failure } from '../failure.ts'

/** The cause of a Failure for an answer of a host that has more bytes than it may have. */
export const TOO_LARGE = new Error('more bytes than an answer may have')

/** Whether an answer was not read because it has more bytes than it may have. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof Failure && error.cause === TOO_LARGE
}
