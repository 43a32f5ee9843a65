import type { FailureReason, Retry } from '../../domain/reasons.ts'

/** What a message needs to know about the call, and the secrets that it must not contain. */
export interface ErrorContext {
  /** The repository's address. */
  readonly url: string
  readonly secrets: readonly string[]
  /** Whether the connection goes through HTTPS_PROXY. */
  readonly proxied?: boolean
  readonly deadlineSeconds: number
  readonly fetchLimitMiB: number
}

/** A reason and its sentence. */
export interface ErrorMeaning {
  readonly reason: FailureReason
  /** Overrides the retry of the reason: what stands at a branch now may be gone soon, since others write there, too. */
  readonly retry?: Retry
  /** The rest of the sentence, after the repository's address. */
  readonly sentence: string | ((context: ErrorContext) => string)
}

/** One kind of error, recognized by a line of git. */
export interface ErrorRow extends ErrorMeaning {
  readonly pattern: RegExp
  /**
   * It is about the way to the server, so that it counts only before the first line of the server: of an error of the side
   * band, Git marks only the first line, and the others could say anything in its name.
   */
  readonly connecting?: boolean
}

/** The rest of the sentence, after the address, for an address that is not a Git server. */
export const NOT_GIT =
  'does not answer as a Git repository; check the address, and whether a browser gets a login page there.'
/** A session may fetch no more. */
export const FETCH_LIMIT_REACHED: ErrorMeaning = {
  reason: 'NotSupported',
  retry: 'slow',
  sentence: ({ fetchLimitMiB }) =>
    `is too large: one attempt fetches more than ${fetchLimitMiB} MiB; your Commitlet operator may raise FETCH_LIMIT.`,
}

/** Git has taken all of the time of the processor that it may take. */
export const TOO_MUCH_WORK: ErrorMeaning = {
  reason: 'NotSupported',
  retry: 'slow',
  sentence:
    'is more work for Git than one attempt may do; use a repository with fewer or smaller objects, or ask your Commitlet operator, who may raise ATTEMPT_DEADLINE.',
}
/** Git has taken all of the memory that it may take. */
export const TOO_MUCH_MEMORY: ErrorMeaning = {
  reason: 'NotSupported',
  retry: 'slow',
  sentence:
    'lists more refs or objects than Git can hold in the memory that one attempt may use; use a repository with fewer, or ask your Commitlet operator to give Commitlet more memory.',
}
/** The connection broke off. */
export const BROKEN_OFF: ErrorMeaning = {
  reason: 'NetworkError',
  sentence: 'closed the connection in the middle of the exchange; Commitlet retries automatically.',
}
/** Git does not take what the branch names, or what is there. */
export const BROKEN_TIP: ErrorMeaning = {
  reason: 'NotSupported',
  retry: 'transient',
  sentence:
    'has a broken object at the tip of the branch, so nothing can be built on it; run `git fsck` there and fix it; Commitlet retries automatically.',
}

/** What Git's upload-pack and that of JGit, which Gerrit uses, say where no commit is as new as the requested date. */
export const NOTHING_NEWER = /^(?:fatal: )?no commits selected for shallow requests?$/im

/** What became of a push is not found behind them. */
export const TOO_MANY_WORDS: ErrorMeaning = {
  reason: 'ProviderUnavailable',
  sentence:
    'prints more after a push than Commitlet reads, so that its report is not found; Commitlet retries automatically, and the administrator of the server should check its hooks.',
}
