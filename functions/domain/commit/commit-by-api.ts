import type { Login } from '../credentials/login.ts'
import type { Failure } from '../failure.ts'
import type { Span } from '../telemetry/tracer.ts'

/** What an API makes one commit of. */
export interface ApiCommit {
  /** Short name of a branch that exists. */
  readonly branch: string
  /** Full name of the commit that the branch has to be at. */
  readonly tip: string
  /** The whole message with its trailers. */
  readonly message: string
  /** Plain files with their whole contents, or removed ones; none: an empty commit. */
  readonly files: readonly { readonly path: string; readonly content?: Uint8Array | undefined }[]
}

/** What became of it. */
export type ApiCommitted =
  | { readonly kind: 'landed'; /** Full name. */ readonly sha: string }
  /** Nothing was written: the branch is not at the tip any more. */
  | { readonly kind: 'race' }
  /** There was no usable answer: it may be on the branch, or may still get there. */
  | { readonly kind: 'lost'; readonly failure: Failure }

/** Who calls the API, and until when. */
export interface ApiCommitTerms {
  readonly login: Login
  readonly signal: AbortSignal
  /** The parent of the call's span. */
  readonly span?: Span | undefined
  /**
   * How long the call may still begin, in milliseconds; left out: for ever. Asked when its first byte is to be sent: with 0
   * or less nothing is sent, and it is a race.
   */
  readonly remaining?: (() => number) | undefined
}

/**
 * Lets the host make one commit on its branch, which it signs itself: the branch moves from the tip to this commit, or it
 * does not move at all, however late the host carries it out.
 * @throws Failure why nothing was written, and will not be
 */
export type CommitByAPI = (commit: ApiCommit, terms: ApiCommitTerms) => Promise<ApiCommitted>
