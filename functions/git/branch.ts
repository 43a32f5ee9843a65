import { looksLikeCredential } from '../domain/credential-text.ts'
import { Failure } from '../domain/failure.ts'
import { holdsSecret } from '../domain/redact.ts'
import { branchComplaint } from '../domain/repository/branch-name.ts'

/** Name of the first branch of an empty repository if neither the spec names one nor the server, by its HEAD. */
export const FIRST_BRANCH = 'main'

/**
 * Whether the default branch of a remote can be used by this name, which the remote chooses and the status, Events and
 * the log repeat: it keeps the rules of spec.branch, and holds neither a secret of the login, which the remote knows by
 * now, nor what looks like one.
 */
export function isUsableBranch(name: string, secrets: readonly string[]): boolean {
  if (branchComplaint(name) !== undefined || UNFIT.test(name) || name.length > LONGEST) return false
  return !holdsSecret(name, secrets) && !looksLikeCredential(name)
}

// The limit of spec.branch: neither the status nor most hosts accept longer names.
const LONGEST = 255

// What terminals do not show as it is; a byte that is not UTF-8 would be pushed as another character.
const UNFIT = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\ufffd]/u

/**
 * Others may fix the remote, and may have broken it: where the first commit of an empty repository goes to another branch, a plain
 * Git server leaves its default one unmade.
 */
const OF_OTHERS = { retry: 'slow' } as const

/** The remote has a default branch, but its name is not reported, or cannot be used. */
export function unnamedHead(url: string): Failure {
  return new Failure(
    'NotSupported',
    `${url} does not report which branch is its default; name one in spec.branch.`,
    OF_OTHERS,
  )
}

/** The remote has branches, but not the one that its HEAD points to. */
export function danglingHead(url: string): Failure {
  return new Failure(
    'NotSupported',
    `${url} has branches, but its default branch does not exist, so Commitlet does not know where to start; name an existing branch in spec.branch, or the default branch to begin it, or fix that there.`,
    OF_OTHERS,
  )
}

const MOVED = new Error('the branch has moved')

/** The branch moved between two reads; a session that writes reads it again, and otherwise the next attempt does. */
export function movedMeanwhile(url: string): Failure {
  const message = `The branch of ${url} moved while it was read; Commitlet retries automatically.`
  return new Failure('Conflict', message, { cause: MOVED })
}

/** Whether it says that. */
export function isMoved(error: unknown): boolean {
  return error instanceof Failure && error.cause === MOVED
}
