import { createHmac, type KeyObject } from 'node:crypto'
import { NO_KEY } from '../resource/waiting.ts'

/** The trailer that shows that Commitlet has written a commit: its `Commitlet-Id` can be foretold by anybody. */
export const COMMIT_SEAL_TRAILER = 'Commitlet-Seal'

/** What a seal is for: it holds for no other request, repository or branch. */
export interface Sealed {
  /** Value of the trailer `Commitlet-Id`. */
  readonly id: string
  /** The repository's address as the spec has it. */
  readonly repository: string
  /** Branch of the spec; undefined: the remote's default branch. */
  readonly branch: string | undefined
  /** Of a request by requested-at: see `requestStart`; undefined: the id alone tells the request. */
  readonly start?: string | undefined
}

/** The seals of one commit. */
export interface CommitSeals {
  /** Those of which it has to have one in order to count; undefined: its id is enough. */
  readonly sought: readonly string[] | undefined
  /** Those that it is given. */
  readonly written: readonly string[]
}

/** Makes seals invalid as signatures of stamps and events, which the same key makes, and these invalid here. */
const PURPOSE = 'commitlet.dev/v1 commit-seal'

/** Of the newest keys: while keys are rotated, a replica that does not know the newest one yet has to find the commit as well. */
const WRITTEN_KEYS = 2

/**
 * The seals of the commit of this request by these keys, the newest first. One with a start also has the seal without it, by
 * which a replica of the version before finds it: that one is not sought.
 */
export function commitSeals(sealed: Sealed, keys: readonly KeyObject[]): CommitSeals {
  const { start, ...withoutStart } = sealed
  if (keys.length === 0 && start === undefined) return { sought: undefined, written: [] }
  // Where there is no key, a seal tells requests apart, and proves nothing.
  const sought = (keys.length === 0 ? [NO_KEY] : keys).map((key) => commitSeal(sealed, key))
  const older = start === undefined ? [] : keys.slice(0, 1).map((key) => commitSeal(withoutStart, key))
  return { sought, written: [...sought.slice(0, WRITTEN_KEYS), ...older] }
}

/** Of 64 hex digits: whoever guesses has to get each guess merged. */
const DIGITS = 16

/** Value of the trailer `Commitlet-Seal`: the first 64 bits of an HMAC-SHA-256 (RFC 2104), as 16 hex digits. */
export function commitSeal({ id, repository, branch, start }: Sealed, key: KeyObject): string {
  const sealed = [id, repository, branch ?? null, ...(start === undefined ? [] : [start])]
  return createHmac('sha256', key)
    .update(`${PURPOSE}\n${JSON.stringify(sealed)}`)
    .digest('hex')
    .slice(0, DIGITS)
}

/** Whether this is written as a seal is. */
export function isSealText(text: string): boolean {
  return text.length === DIGITS && /^[0-9a-f]+$/.test(text)
}
