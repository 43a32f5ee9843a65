import type { RepositoryAddress } from '../repository/address.ts'

export interface Identity {
  readonly name: string
  readonly email: string
}

/** One file to be written by one commit. Made once per attempt, never changed. */
export interface Change {
  readonly repository: RepositoryAddress
  /** Short name of the branch; undefined: the remote's default branch (`main` on an empty repository). */
  readonly branch: string | undefined
  readonly path: string
  readonly content: Uint8Array
  /** The whole message with its trailers. */
  readonly message: string
  /** Value of the trailer `Commitlet-Id`. */
  readonly id: string
  /** Author and committer. */
  readonly author: Identity
  /** Set when an earlier attempt may have pushed already: history since then is searched for `id` first. */
  readonly since?: Date
}

/** A change whose content is not at hand: enough to tell whether it has landed already. */
export type ChangeDraft = Omit<Change, 'content'>

/** How a change ended. `unchanged`: the branch held this content already, `sha` is its tip. */
export interface Landed {
  readonly outcome: 'pushed' | 'found' | 'unchanged'
  /** Full object name of the commit. */
  readonly sha: string
  /** Short name of the branch that was written. */
  readonly branch: string
}
