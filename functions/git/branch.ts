import { Failure } from '../domain/failure.ts'

/** Name of the first branch of an empty repository if the spec names none. */
export const FIRST_BRANCH = 'main'

/** Whether the default branch of a remote can be used by this name. */
export function isUsableBranch(name: string): boolean {
  return !UNFIT.test(name) && name.length <= LONGEST
}

// The limit of spec.branch: neither the status nor most hosts accept longer names.
const LONGEST = 255

// What git-check-ref-format(1) forbids; a byte that is not UTF-8 would be pushed as another character.
const UNFIT = /[\\:?*[~^\p{Cc}\ufffd]|\.\./u

/** The remote has a default branch, but its name is not reported, or cannot be used. */
export function unnamedHead(url: string): Failure {
  return new Failure(
    'NotSupported',
    `${url} does not report which branch is its default; name one in spec.branch.`,
  )
}

/** The remote has branches, but not the one that its HEAD points to. */
export function danglingHead(url: string): Failure {
  return new Failure(
    'NotSupported',
    `${url} has branches, but its default branch does not exist, so Commitlet does not know where to start; name an existing branch in spec.branch, or fix the default branch there.`,
  )
}

/** The branch moved between two reads; the next attempt reads again. */
export function movedMeanwhile(url: string): Failure {
  const message = `The branch of ${url} moved while it was read; Commitlet retries automatically.`
  return new Failure('Conflict', message)
}
