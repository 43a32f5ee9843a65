import { Failure } from './failure.ts'
import type { FailureReason, Retry } from './reasons.ts'

/** An error in one field of a resource, as its author sees it. */
export interface FieldError {
  readonly reason: FailureReason
  /** The field to fix, such as `spec.resourceRef.path`. */
  readonly field: string
  /** One sentence that begins with the field and never repeats what may be a secret. */
  readonly message: string
  /** Overrides the retry of the reason. */
  readonly retry?: Retry
}

/** The Failure of a resource with these errors: the reason of the first, the messages of all. Undefined: no errors. */
export function failureOfFieldErrors(fieldErrors: readonly FieldError[]): Failure | undefined {
  const [first] = fieldErrors
  if (first === undefined) return undefined
  const { reason, retry } = first
  return new Failure(
    reason,
    fieldErrors.map(({ message }) => message).join(' '),
    retry === undefined ? {} : { retry },
  )
}

/** A field error whose message is the field followed by `complaint`, such as "has no name." */
export function fieldError(
  field: string,
  complaint: string,
  reason: FailureReason = 'InvalidSpec',
): FieldError {
  return { reason, field, message: `${field} ${complaint}` }
}
