import { isProtocolError } from '../protocol/protocol-error.ts'
import { isTooLong } from './channels/channel.ts'

/** An error that isOfBranch knows. */
export function ofBranch(words: string, cause?: unknown): Error {
  return Object.assign(new Error(words, { cause }), { name: OF_BRANCH })
}

/**
 * Whether this engine cannot go on because of what is at one branch, or how much. Who may push to one decides on it, so it says
 * nothing of the other branches.
 */
export function isOfBranch(error: unknown): boolean {
  const isNamed = error instanceof Error && error.name === OF_BRANCH
  return isNamed || isTooLong(error) || isProtocolError(error, 'TOO_MANY')
}

// Not a code: an error with one is taken for one of the network.
const OF_BRANCH = 'OfBranch'
