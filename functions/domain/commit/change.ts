import type { RepositoryAddress } from '../repository/address.ts'

export interface Identity {
  readonly name: string
  readonly email: string
}

/** The file holds this content afterwards; a file that is there keeps its mode. */
export interface FileWrite {
  /** From the root of the repository. */
  readonly path: string
  readonly content: Uint8Array
}

/** What a change does to one file, as functions/git/writer/plan.ts turns it into what the commit writes. */
export type FileChange = FileWrite

/** A change as far as it can be told without the contents of its files: enough to tell whether it has landed already. */
export interface ChangeDraft {
  readonly repository: RepositoryAddress
  /** Short name of the branch; undefined: the remote's default branch (`main` on an empty repository). */
  readonly branch: string | undefined
  /** At least one; no path twice, and none below another. */
  readonly files: readonly Pick<FileChange, 'path'>[]
  /** The whole message with its trailers. */
  readonly message: string
  /** Value of the trailer `Commitlet-Id`. */
  readonly id: string
  /** Author and committer. */
  readonly author: Identity
  /** Set when an earlier attempt may have pushed already: history since then is searched for `id` first. */
  readonly since?: Date
}

/** What one commit does, all of it or nothing. Made once per attempt, never changed. */
export interface Change extends ChangeDraft {
  readonly files: readonly FileChange[]
}

/** How a change ended. `unchanged`: the branch held all of it already, `sha` is its tip. */
export interface Landed {
  readonly outcome: 'pushed' | 'found' | 'unchanged'
  /** Full object name of the commit. */
  readonly sha: string
  /** Short name of the branch that was written. */
  readonly branch: string
}
