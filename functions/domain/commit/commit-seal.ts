import { createHmac } from 'node:crypto'

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
}

/** Makes seals invalid as signatures of stamps and events, which the same key makes, and these invalid here. */
const PURPOSE = 'commitlet.dev/v1 commit-seal'

/** Of 64 hex digits: whoever guesses has to get each guess merged. */
const DIGITS = 16

/** Value of the trailer `Commitlet-Seal`: the first 64 bits of an HMAC-SHA-256 (RFC 2104), as 16 hex digits. */
export function commitSeal({ id, repository, branch }: Sealed, key: Uint8Array): string {
  return createHmac('sha256', key)
    .update(`${PURPOSE}\n${JSON.stringify([id, repository, branch ?? null])}`)
    .digest('hex')
    .slice(0, DIGITS)
}

/** Whether this is written as a seal is. */
export function isSealText(text: string): boolean {
  return text.length === DIGITS && /^[0-9a-f]+$/.test(text)
}
