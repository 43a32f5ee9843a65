/**
 * Whether and how Commitlet retries. `slow`: at long intervals, because someone has to fix something first. `reference`: as
 * soon as what was missing is there, which Commitlet looks for, and after ten minutes as `transient`.
 */
export type Retry = 'never' | 'transient' | 'slow' | 'reference'

/** The meaning of a reason, for all code that depends on it. */
export interface ReasonRow {
  readonly retry: Retry
  /** When the retries of a transient failure end: a `day` after the first attempt; left out: after RETRY_LIMIT attempts. */
  readonly budget?: 'day'
  /** Are the credentials the cause, so that `fallbackCredentials` are tried? */
  readonly fallback: boolean
  /**
   * Where it ends a batch of changes before their push: by what the batch is divided, so that who is not the cause goes on.
   * Left out: it is not.
   */
  readonly dividedBy?: 'change' | 'namespace'
  /** The reason of the metav1.Status with which admission denies a resource in which it finds this. */
  readonly denial: 'Invalid' | 'Forbidden' | 'ServiceUnavailable'
  /** Who can fix it, for metrics: the user, the operator, a remote; `internal` is a bug. */
  readonly side: 'user' | 'operator' | 'remote' | 'internal'
}

const ROWS = {
  InvalidSpec: { retry: 'never', fallback: false, denial: 'Invalid', side: 'user' },
  ReferenceNotFound: { retry: 'reference', fallback: true, denial: 'Invalid', side: 'user' },
  ReferenceForbidden: { retry: 'never', fallback: false, denial: 'Forbidden', side: 'user' },
  NotSupported: { retry: 'never', fallback: false, dividedBy: 'namespace', denial: 'Invalid', side: 'user' },
  CredentialsInvalid: { retry: 'slow', fallback: true, dividedBy: 'change', denial: 'Invalid', side: 'user' },
  AuthenticationFailed: { retry: 'slow', fallback: true, denial: 'Invalid', side: 'user' },
  PermissionDenied: { retry: 'slow', fallback: true, denial: 'Invalid', side: 'user' },
  RepositoryNotFound: { retry: 'slow', fallback: true, denial: 'Invalid', side: 'user' },
  HostKeyUnknown: { retry: 'slow', fallback: false, denial: 'Invalid', side: 'user' },
  HostKeyMismatch: { retry: 'slow', fallback: false, denial: 'Invalid', side: 'remote' },
  TLSUntrusted: { retry: 'slow', fallback: false, denial: 'Invalid', side: 'operator' },
  AddressForbidden: { retry: 'never', fallback: false, denial: 'Forbidden', side: 'user' },
  PushRejected: { retry: 'never', fallback: false, denial: 'Invalid', side: 'user' },
  PathConflict: { retry: 'slow', fallback: false, denial: 'Invalid', side: 'user' },
  PullRequestRejected: { retry: 'never', fallback: false, denial: 'Invalid', side: 'user' },
  HeadNotFound: { retry: 'transient', fallback: false, denial: 'Invalid', side: 'user' },
  NothingToMerge: { retry: 'transient', fallback: false, denial: 'Invalid', side: 'user' },
  Conflict: { retry: 'transient', fallback: false, denial: 'ServiceUnavailable', side: 'remote' },
  RateLimited: {
    retry: 'transient',
    budget: 'day',
    fallback: false,
    denial: 'ServiceUnavailable',
    side: 'remote',
  },
  ProviderUnavailable: { retry: 'transient', fallback: false, denial: 'ServiceUnavailable', side: 'remote' },
  NetworkError: { retry: 'transient', fallback: false, denial: 'ServiceUnavailable', side: 'remote' },
  Timeout: { retry: 'transient', fallback: false, denial: 'ServiceUnavailable', side: 'remote' },
  RetryBudgetExhausted: { retry: 'never', fallback: false, denial: 'Invalid', side: 'remote' },
  Internal: {
    retry: 'transient',
    fallback: false,
    dividedBy: 'namespace',
    denial: 'ServiceUnavailable',
    side: 'internal',
  },
} as const satisfies Record<string, ReasonRow>

/** A reason as shown in the status and by `kubectl get`. */
export type FailureReason = keyof typeof ROWS

/**
 * The table of reasons: every reason that a resource can fail with, and what it means. A new reason is a new row
 * here and one in docs/troubleshooting.md.
 */
export const REASONS: Readonly<Record<FailureReason, ReasonRow>> = ROWS

/** Whether this text, such as the reason of a stored condition, is a reason of the table. */
export function isFailureReason(text: string | undefined): text is FailureReason {
  return text !== undefined && Object.hasOwn(ROWS, text)
}
