import type { Identity } from '../domain/commit/change.ts'
import type { Login } from '../domain/credentials/login.ts'
import type { Failure } from '../domain/failure.ts'
import type { Signer } from '../domain/signing/signer.ts'
import type { RepositoryAddress } from '../domain/repository/address.ts'
import type { Route } from '../domain/network/route.ts'
import type { Span } from '../domain/telemetry/tracer.ts'
import type { Tree } from './tree.ts'

/**
 * The port between the writer and an engine that talks to a remote: one session with one repository, in terms of Git,
 * for one batch. An engine keeps no state except the objects that it has read and written, and where branches were. Only
 * `push` changes the remote, and it builds on the tip that it is given: a caller checks everything that the push depends on before it
 * calls `push`. Each function throws a Failure for an error of the remote.
 */
export interface Remote {
  /** The repository's address as users know it, for messages. */
  readonly url: string
  /** Fires with the reason once the session has to end: whoever works in it waits for nothing else any more. */
  readonly signal: AbortSignal
  /**
   * Reads where the branch is, or remembers it. `moved`: the remote changed while it was read.
   * @throws Failure RepositoryNotFound where there is no Git server at all
   */
  readTip(wanted: WantedTip): Promise<Tip | 'moved'>
  /** Reads the entries of the tip at the paths and at every directory above them; no content of files. */
  readTree(tip: Tip, paths: readonly string[]): Promise<Tree>
  /** Reads files of the tip, by their object names in its tree. A file of more than `most` bytes is left out. */
  readBlobs(tip: Tip, oids: readonly string[], most: number): Promise<Blobs>
  /**
   * Writes the commits locally, each on the one before, the first on the tip. Returns their full names in the same
   * order.
   */
  writeCommits(tip: Tip, commits: readonly NewCommit[]): Promise<readonly string[]>
  /**
   * Pushes once: the branch moves from `tip` to `head` (a commit that was written on it, or the tip itself, which
   * creates a missing branch), or it does not move at all. A compare-and-swap, never a forced push, however late the
   * remote carries it out. Nothing is sent after the target's signal has fired, nor where `remaining` answers 0 or less
   * when the first byte is to be sent: then it is a race. `remaining`: how long the push may still begin, in
   * milliseconds; left out: for ever.
   */
  push(tip: Tip, head: string, remaining?: () => number): Promise<Pushed>
  /**
   * Asks whether this login may push, and pushes nothing: git-receive-pack lists its refs, and is sent no update.
   * @throws Failure as a push would be refused with before anything is sent
   */
  askToPush(tip: Tip): Promise<void>
  /**
   * Searches the history of a tip that was read with `since` for the commits of earlier attempts. Returns their full
   * names in the order of `sought`; undefined: there is no such commit.
   */
  findLanded(tip: Tip, sought: readonly SoughtCommit[]): Promise<readonly (string | undefined)[]>
  /** Ends the session and removes its local files. */
  close(): Promise<void>
}

/** The two ways to talk to remotes: an engine that speaks the protocol itself, and the git binary. */
export type EngineName = 'direct' | 'binary'

/** One way to talk to remotes. */
export interface Engine {
  /** Opens a session; everything in it ends when the target's signal fires. Throws a Failure. */
  open(target: RemoteTarget): Promise<Remote>
  /** Removes every file, once all sessions are closed. */
  close(): Promise<void>
}

/** Which repository, by which route, with which login, and for how long. */
export interface RemoteTarget {
  readonly address: RepositoryAddress
  /** The one that the session is about; undefined: the remote's default branch. */
  readonly branch?: string | undefined
  readonly route: Route
  readonly login: Login
  readonly signal: AbortSignal
  /** Of the first resource that asks: memory is shared among namespaces. */
  readonly namespace: string
  /** Told which engine opens the session, and once more where that hands over to the other. */
  readonly engineChosen?: ((engine: EngineName) => void) | undefined
  /** What the session belongs to in a trace. */
  readonly span?: Span | undefined
  /** Undefined: nobody waits for the session. */
  readonly turn?: SessionTurn | undefined
}

/** The turn of the branch that a session has while others wait for theirs. */
export interface SessionTurn {
  /** Others have theirs. Twice does nothing. */
  readonly end: () => void
  /** Waits for another one, unless it has not ended. Rejects if the signal fires. */
  readonly again: (signal: AbortSignal) => Promise<void>
}

/** Which tip is read. */
export interface WantedTip {
  /** Short name; undefined: the remote's default branch. */
  readonly branch: string | undefined
  /** Fetches the history since then, for a later search. */
  readonly since?: Date | undefined
  /** The remote is asked; otherwise the answer may be a remembered tip. */
  readonly fresh?: boolean
}

/** What new commits are built on. */
export interface Tip {
  /** Short name of the branch. */
  readonly branch: string
  /** Full name of the commit to build on; undefined: there is none, as in an empty repository. */
  readonly commit: string | undefined
  /** Whether the branch exists, at `commit`; a missing one starts at the default branch. */
  readonly exists: boolean
  /**
   * The remote was not asked: the branch was there when this login read or wrote it last. Only a push may rest on it,
   * because as its lease the remote itself checks it: the branch moves from there or not at all.
   */
  readonly remembered?: true
}

/** A commit to be written. */
export interface NewCommit {
  /** None: an empty commit. */
  readonly files: readonly (NewFile | RemovedFile)[]
  readonly message: string
  /** Author and committer. */
  readonly author: Identity
  /** Author's and committer's date; whole seconds count. */
  readonly date: Date
  /** Undefined: the commit is not signed. */
  readonly signer?: Signer | undefined
}

/** What a commit writes at a path. */
export interface NewFile {
  readonly path: string
  /** 100644 or 100755. */
  readonly mode: string
  readonly content: Uint8Array
}

/** A file that is there and is not in the commit any more, nor are the directories that are empty without it. */
export interface RemovedFile {
  readonly path: string
  readonly content?: undefined
}

/** Contents of files by their object names. */
export type Blobs = ReadonlyMap<string, Uint8Array>

/**
 * How a commit of an earlier attempt is recognized: its trailers `Commitlet-Id` and `Commitlet-Seal`, and that it changes
 * one of the paths.
 */
export interface SoughtCommit {
  readonly id: string
  /** Seals of which it has one; undefined: the id is enough. */
  readonly seals?: readonly string[] | undefined
  readonly paths: readonly string[]
}

/** The outcome of one push. */
export type Pushed =
  /** `names`: those of the commits, where the remote has made them; else they are those of `writeCommits`. */
  | { readonly kind: 'landed'; readonly names?: readonly string[] }
  /**
   * The answer was lost, and the branch is neither where it was nor at `head`: only the history can show the outcome.
   */
  | { readonly kind: 'unknown' }
  | Unlanded

/**
 * A push that has not moved the branch. `late`: its answer was lost, so the remote may still carry it out.
 */
export type Unlanded = { readonly late?: true } & (
  | /** The branch has moved. `unless`: the failure to report if it turns out that it has not. */
    { readonly kind: 'race'; readonly unless?: Failure }
    /**
     * `each`: the remote inspected the commits, so other commits of the batch may pass. `said`: some of the commits may be
     * why, because a hook may have repeated their words, or a gateway may refuse what it finds in them, or so much. `unread`: the
     * remote has not looked at them, because it refuses the login, or so many requests.
     */
  | {
      readonly kind: 'refused'
      readonly failure: Failure
      readonly each: boolean
      readonly said?: true
      readonly unread?: true
    }
)
