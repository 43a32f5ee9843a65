/** Does trying again help? `slow`: a person must mend something first, and may. */
export type Retry = 'never' | 'transient' | 'slow'

/** Every reason that a resource can fail with, and its answer to "does trying again help?". */
export const RETRY_BY_REASON = {
  InvalidSpec: 'never',
  ReferenceNotFound: 'transient',
  ReferenceForbidden: 'never',
  NotSupported: 'never',
  CredentialsInvalid: 'slow',
  AuthenticationFailed: 'slow',
  PermissionDenied: 'slow',
  RepositoryNotFound: 'slow',
  HostKeyUnknown: 'never',
  HostKeyMismatch: 'never',
  TLSUntrusted: 'never',
  AddressForbidden: 'never',
  PushRejected: 'never',
  PathConflict: 'never',
  PullRequestRejected: 'never',
  HeadNotFound: 'transient',
  NothingToMerge: 'transient',
  Conflict: 'transient',
  RateLimited: 'transient',
  ProviderUnavailable: 'transient',
  NetworkError: 'transient',
  Timeout: 'transient',
  RetryBudgetExhausted: 'never',
  Internal: 'transient',
} as const satisfies Record<string, Retry>

/** A reason as it stands in the status and in `kubectl get`. */
export type FailureReason = keyof typeof RETRY_BY_REASON

/** Most characters of a message in a status: the bound of metav1.Condition. */
const MESSAGE_LIMIT = 32_768

export interface FailureOptions {
  /** What led here. It is logged by name only, never shown to users. */
  readonly cause?: unknown
  /** Overrides the reason's own answer, where the same reason is mended by another person. */
  readonly retry?: Retry
  /** The remote asked not to be called before this many seconds have passed. */
  readonly retryAfterSeconds?: number
}

/**
 * The one error of the project: a reason from the table and one sentence for the user (what was found,
 * what was expected, where, what to do), cut where the status could not hold it. Thrown where its meaning is first
 * known, reported in one place.
 */
export class Failure extends Error {
  readonly reason: FailureReason
  readonly retry: Retry
  readonly retryAfterSeconds: number | undefined

  constructor(reason: FailureReason, message: string, options: FailureOptions = {}) {
    super(boundedMessage(message), 'cause' in options ? { cause: options.cause } : undefined)
    this.name = 'Failure'
    this.reason = reason
    this.retry = options.retry ?? RETRY_BY_REASON[reason]
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** The message, cut where a status could not hold it. */
export function boundedMessage(message: string): string {
  if (message.length <= MESSAGE_LIMIT) return message
  return `${message.slice(0, MESSAGE_LIMIT - 1).toWellFormed()}…`
}

/** A Failure as it is; everything else is a bug: Internal, with the error as its cause. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  const message =
    'Commitlet met an error of its own; it is tried again, and whoever runs Commitlet finds it in the log.'
  return new Failure('Internal', message, { cause: error })
}
