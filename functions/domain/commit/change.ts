import type { Signer } from '../signing/signer.ts'
import type { RepositoryAddress } from '../repository/address.ts'
import type { CommitByAPI } from './commit-by-api.ts'

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

/** The file is gone afterwards; where it is not there, there is nothing to do. */
export interface FileRemoval {
  readonly path: string
  readonly content?: undefined
  readonly edit?: undefined
}

/** Changes a file that is there, which keeps its mode; see EDITED_BYTES. */
export interface FileEdit {
  readonly path: string
  readonly content?: undefined
  readonly edit: Edit
  /** About how many bytes of values it keeps in memory. */
  readonly keeps?: number
}

/**
 * Makes the new content of a file from the one that it has on the branch. Called again for each other content that it has at
 * a later tip or after other changes, so it depends on its argument alone.
 * @throws Failure
 */
export type Edit = (before: Uint8Array) => Uint8Array | Promise<Uint8Array>

/** What a change does to one file; functions/git/writer/plan.ts turns it into what the commit writes. */
export type FileChange =
  | (FileWrite & { readonly edit?: undefined; readonly keeps?: undefined })
  | (FileRemoval & { readonly keeps?: undefined })
  | FileEdit

const MEBIBYTE = 1024 * 1024

/** Most bytes of the files that one change writes, together. */
export const CHANGE_BYTES = 10 * MEBIBYTE

/** Most bytes of a file that is edited. */
export const EDITED_BYTES = 2 * MEBIBYTE

/** The most bytes that the files of a change can take. */
export function mostBytesOf(files: readonly FileChange[]): number {
  const written = files.reduce((sum, { content }) => sum + (content?.length ?? 0), 0)
  const edited = files.filter(({ edit }) => edit !== undefined).length * EDITED_BYTES
  return edited === 0 ? written : Math.min(Math.max(CHANGE_BYTES, written), written + edited)
}

/** A change without the contents of its files: enough to find out whether it has landed already. */
export interface ChangeDraft {
  /** Of the resource. */
  readonly namespace: string
  readonly repository: RepositoryAddress
  /** Short name of the branch; undefined: the remote's default branch (on an empty repository that of its HEAD, or `main`). */
  readonly branch: string | undefined
  /** At least one file; no path occurs twice or is below another. */
  readonly files: readonly Pick<FileChange, 'path'>[]
  /** The whole message with its trailers. */
  readonly message: string
  /** Value of the trailer `Commitlet-Id`. */
  readonly id: string
  /** Values of the trailer `Commitlet-Seal` that its commit may have; undefined: there is no key, so the id is enough. */
  readonly seals?: readonly string[] | undefined
  /** Author and committer. */
  readonly author: Identity
  /** Set if an earlier attempt may have pushed: then the history since this time is searched for `id` first. */
  readonly since?: Date
  /** Its user has just requested it, and may know that the limit of a host is over. */
  readonly isRequested?: boolean
  /**
   * A push of an earlier attempt for the same resource may still be carried out. Then the branch has to move, even where
   * it holds the contents: a push builds on the tip that was read for it, and fails once the branch has left that.
   */
  readonly latePush?: boolean
}

/** What one commit does, completely or not at all. Made once per attempt, never changed. */
export interface Change extends ChangeDraft {
  readonly files: readonly FileChange[]
  /** Signs each commit that is made for it, an empty one too; undefined: they are not signed. */
  readonly signer?: Signer | undefined
  /** Makes the commit in place of a push, one at a time; undefined: it is pushed. */
  readonly commitByAPI?: CommitByAPI | undefined
}

/** The result of a change. `unchanged`: the branch contained all of it already, and `sha` is the commit that its push found there. */
export interface Landed {
  readonly outcome: 'pushed' | 'found' | 'unchanged'
  /** Full object name of the commit. */
  readonly sha: string
  /** Short name of the branch that was written. */
  readonly branch: string
}
