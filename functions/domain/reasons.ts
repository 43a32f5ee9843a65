/** Does trying again help? `slow`: a person must fix something first, and may. */
export type Retry = 'never' | 'transient' | 'slow'

/** What a reason means, for everything that depends on it. */
export interface ReasonRow {
  readonly retry: Retry
  /** What ends the retries of a transient failure: `day` after the first attempt; left out: RETRY_LIMIT attempts. */
  readonly budget?: 'day'
  /** Are the credentials to blame, so that `fallbackCredentials` are tried? */
  readonly fallback: boolean
  /** The reason of the metav1.Status with which admission denies a resource in which it finds this. */
  readonly denial: 'Invalid' | 'Forbidden' | 'ServiceUnavailable'
  /** Whose side it is on, for metrics: the user's, the operator's, that of a remote, or internal (a bug). */
  readonly side: 'user' | 'operator' | 'remote' | 'internal'
}

const ROWS = {
  InvalidSpec: { retry: 'never', fallback: false, denial: 'Invalid', side: 'user' },
  ReferenceNotFound: { retry: 'transient', fallback: true, denial: 'Invalid', side: 'user' },
  ReferenceForbidden: { retry: 'never', fallback: false, denial: 'Forbidden', side: 'user' },
  NotSupported: { retry: 'never', fallback: false, denial: 'Invalid', side: 'user' },
  CredentialsInvalid: { retry: 'slow', fallback: true, denial: 'Invalid', side: 'user' },
  AuthenticationFailed: { retry: 'slow', fallback: true, denial: 'Invalid', side: 'user' },
  PermissionDenied: { retry: 'slow', fallback: true, denial: 'Invalid', side: 'user' },
  RepositoryNotFound: { retry: 'slow', fallback: true, denial: 'Invalid', side: 'user' },
  HostKeyUnknown: { retry: 'never', fallback: false, denial: 'Invalid', side: 'user' },
  HostKeyMismatch: { retry: 'never', fallback: false, denial: 'Invalid', side: 'remote' },
  TLSUntrusted: { retry: 'never', fallback: false, denial: 'Invalid', side: 'operator' },
  AddressForbidden: { retry: 'never', fallback: false, denial: 'Forbidden', side: 'user' },
  PushRejected: { retry: 'never', fallback: false, denial: 'Invalid', side: 'user' },
  PathConflict: { retry: 'never', fallback: false, denial: 'Invalid', side: 'user' },
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
  Internal: { retry: 'transient', fallback: false, denial: 'ServiceUnavailable', side: 'internal' },
} as const satisfies Record<string, ReasonRow>

/** A reason as it stands in the status and in `kubectl get`. */
export type FailureReason = keyof typeof ROWS

/**
 * The table of reasons: every reason that a resource can fail with, and what it means. A new reason is a new row
 * here and one in docs/troubleshooting.md.
 */
export const REASONS: Readonly<Record<FailureReason, ReasonRow>> = ROWS

/** Is this text, such as the reason of a stored condition, a reason of the table? */
export function isFailureReason(text: string | undefined): text is FailureReason {
  return text !== undefined && Object.hasOwn(ROWS, text)
}
