import type { Identity } from '../domain/commit/change.ts'
import type { Login } from '../domain/credentials/login.ts'
import type { Failure } from '../domain/failure.ts'
import type { RepositoryAddress } from '../domain/repository/address.ts'
import type { Route } from '../domain/network/route.ts'
import type { Tree } from './tree.ts'

/**
 * The port between the writer and whatever talks to a remote: one session with one repository, in terms of Git, for
 * one batch. Values come back, and an engine keeps no more than the objects that it has read and written. Nothing
 * moves but by `push`, and what is pushed rests on the tip that is handed in: whoever has to be sure of something
 * between the two does so before the push. Each function throws a Failure for whatever the remote says.
 */
export interface Remote {
  /** The repository's address as users know it, for sentences. */
  readonly url: string
  /**
   * Reads where the branch is. `moved`: the remote changed while it was read.
   * @throws Failure RepositoryNotFound where there is no Git server at all
   */
  readTip(wanted: WantedTip): Promise<Tip | 'moved'>
  /** Reads what the tip holds at the paths and at every directory above them; no content of files. */
  readTree(tip: Tip, paths: readonly string[]): Promise<Tree>
  /**
   * Writes the commits on this side, each on the one before, the first on the tip. Answers their full names in the
   * same order.
   */
  writeCommits(tip: Tip, commits: readonly NewCommit[]): Promise<readonly string[]>
  /**
   * Pushes once: the branch moves from `tip` to `head` (a commit that was written on it, or the tip itself, which makes
   * a missing branch), or it does not move at all. A compare-and-swap; nothing is ever forced.
   */
  push(tip: Tip, head: string): Promise<Pushed>
  /**
   * Looks in the history of a tip that was read with `since` for the commits of earlier attempts. Answers their full
   * names in the order of what was sought; undefined: it is not there.
   */
  findLanded(tip: Tip, sought: readonly SoughtCommit[]): Promise<readonly (string | undefined)[]>
  /** Ends the session and removes what it has left on this side. */
  close(): Promise<void>
}

/** One way to talk to remotes. */
export interface Engine {
  /** Opens a session; everything in it ends when the target's signal fires. Throws a Failure. */
  open(target: RemoteTarget): Promise<Remote>
  /** Removes every file, once all sessions are closed. */
  close(): Promise<void>
}

/** Which repository, by which route, as whom, and for how long. */
export interface RemoteTarget {
  readonly address: RepositoryAddress
  readonly route: Route
  readonly login: Login
  readonly signal: AbortSignal
}

/** Which tip is read. */
export interface WantedTip {
  /** Short name; undefined: the remote's default branch. */
  readonly branch: string | undefined
  /** The history since then is searched afterwards. */
  readonly since?: Date | undefined
}

/** What new commits are built on. */
export interface Tip {
  /** Short name of the branch. */
  readonly branch: string
  /** Full name of the commit to build on; undefined: the repository is empty. */
  readonly commit: string | undefined
  /** Whether the branch is there, at `commit`; a missing one starts at the default branch. */
  readonly exists: boolean
}

/** A commit to be written. */
export interface NewCommit {
  /** At least one. */
  readonly files: readonly NewFile[]
  readonly message: string
  /** Author and committer. */
  readonly author: Identity
  /** Author's and committer's date; whole seconds count. */
  readonly date: Date
}

/** What a commit writes at a path. */
export interface NewFile {
  readonly path: string
  /** 100644 or 100755. */
  readonly mode: string
  readonly content: Uint8Array
}

/** What a commit of an earlier attempt is known by: its trailer `Commitlet-Id`, and that it changes one of the paths. */
export interface SoughtCommit {
  readonly id: string
  readonly paths: readonly string[]
}

/** What became of one push. */
export type Pushed =
  | { readonly kind: 'landed' }
  /** The branch has moved. `unless`: what to say where it turns out that it has not. */
  | { readonly kind: 'race'; readonly unless?: Failure }
  /** The answer was lost, and the branch is neither where it was nor at `head`: history has to tell. */
  | { readonly kind: 'unknown' }
  /** `each`: the remote looked at the commits, so that others of the batch may pass. */
  | { readonly kind: 'refused'; readonly failure: Failure; readonly each: boolean }
