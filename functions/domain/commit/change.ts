import type { RepositoryAddress } from '../repository/address.ts'

export interface Identity {
  readonly name: string
  readonly email: string
}

/** Writes this content to the file; an existing file keeps its mode. */
export interface FileWrite {
  /** From the root of the repository. */
  readonly path: string
  readonly content: Uint8Array
}

/** What a change does to one file; functions/git/writer/plan.ts turns it into what the commit writes. */
export type FileChange = FileWrite

/** A change without the contents of its files: enough to find out whether it has landed already. */
export interface ChangeDraft {
  /** Of the resource. */
  readonly namespace: string
  readonly repository: RepositoryAddress
  /** Short name of the branch; undefined: the remote's default branch (`main` on an empty repository). */
  readonly branch: string | undefined
  /** At least one file; no path occurs twice or is below another. */
  readonly files: readonly Pick<FileChange, 'path'>[]
  /** The whole message with its trailers. */
  readonly message: string
  /** Value of the trailer `Commitlet-Id`. */
  readonly id: string
  /** Author and committer. */
  readonly author: Identity
  /** Set if an earlier attempt may have pushed: then the history since this time is searched for `id` first. */
  readonly since?: Date
}

/** What one commit does, completely or not at all. Made once per attempt, never changed. */
export interface Change extends ChangeDraft {
  readonly files: readonly FileChange[]
}

/** The result of a change. `unchanged`: the branch contained all of it already, and `sha` is its tip. */
export interface Landed {
  readonly outcome: 'pushed' | 'found' | 'unchanged'
  /** Full object name of the commit. */
  readonly sha: string
  /** Short name of the branch that was written. */
  readonly branch: string
}
