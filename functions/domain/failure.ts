import { REASONS } from './reasons.ts'
import type { FailureReason, Retry } from './reasons.ts'

/** Maximum characters of a message in a status: the limit of metav1.Condition. */
const MESSAGE_LIMIT = 32_768

export interface FailureOptions {
  /** The error behind this one. It is logged by name only, never shown to users. */
  readonly cause?: unknown
  /** Overrides the retry of the table, if in this case someone else can fix it, or no one can. */
  readonly retry?: Retry
  /** Overrides the fallback of the table, if other credentials would not help. */
  readonly fallback?: false
  /** The remote is not to be called again before this many seconds have passed: it asked so, or may still be at work. */
  readonly retryAfterSeconds?: number
  /** The API server refused Commitlet's own service account, rather than the requester. */
  readonly accountRefused?: boolean
}

/**
 * The one error of the project: a reason from the table and one sentence for the user (what was found,
 * what was expected, where, what to do), cut if it is too long for the status. Thrown where its meaning is first known,
 * reported in one place.
 */
export class Failure extends Error {
  readonly reason: FailureReason
  readonly retry: Retry
  /** Whether the fallback credentials are tried. */
  readonly fallback: boolean
  readonly retryAfterSeconds: number | undefined
  readonly accountRefused: boolean

  constructor(reason: FailureReason, message: string, options: FailureOptions = {}) {
    super(boundedMessage(message), 'cause' in options ? { cause: options.cause } : undefined)
    this.name = 'Failure'
    this.reason = reason
    this.retry = options.retry ?? REASONS[reason].retry
    this.fallback = options.fallback ?? REASONS[reason].fallback
    this.retryAfterSeconds = options.retryAfterSeconds
    this.accountRefused = options.accountRefused ?? false
  }
}

/** The message, cut if it is too long for a status. */
export function boundedMessage(message: string): string {
  if (message.length <= MESSAGE_LIMIT) return message
  return `${message.slice(0, MESSAGE_LIMIT - 1).toWellFormed()}…`
}

/** A Failure as it is; everything else is a bug: Internal, with the error as its cause. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  const message =
    'Commitlet had an internal error; Commitlet retries automatically, and your Commitlet operator finds the error in the log.'
  return new Failure('Internal', message, { cause: error })
}
