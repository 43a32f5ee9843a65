import { Failure } from './failure.ts'
import type { FailureReason, Retry } from './reasons.ts'

/** One thing that is wrong with a resource, as its author is told. */
export interface FieldError {
  readonly reason: FailureReason
  /** The field that has to be mended, as in `spec.resourceRef.path`. */
  readonly field: string
  /** One sentence that begins with the field and never repeats what may be a secret. */
  readonly message: string
  /** Overrides the reason's own answer to whether trying again helps. */
  readonly retry?: Retry
}

/** The Failure of a resource with these faults: the first one's reason, every sentence. Undefined: there are none. */
export function failureOfFaults(fieldErrors: readonly FieldError[]): Failure | undefined {
  const [first] = fieldErrors
  if (first === undefined) return undefined
  const { reason, retry } = first
  return new Failure(
    reason,
    fieldErrors.map(({ message }) => message).join(' '),
    retry === undefined ? {} : { retry },
  )
}

/** A fault whose sentence is the field followed by `complaint`, such as "has no name." */
export function fieldError(
  field: string,
  complaint: string,
  reason: FailureReason = 'InvalidSpec',
): FieldError {
  return { reason, field, message: `${field} ${complaint}` }
}

/** A fault for what this release does not carry out; `what` is its name for the user. */
export function notSupported(field: string, what: string): FieldError {
  return fieldError(field, `asks for ${what}, which is not supported yet; leave it out.`, 'NotSupported')
}
