import { Failure } from './failure.ts'
import type { FailureReason } from './reasons.ts'

/** Where an error occurred, in a form that may be logged. */
export interface ErrorLogFields {
  /** The reason of a Failure, else the error's name. */
  readonly error: string
  /** The code that Node gives system errors, such as ECONNREFUSED. */
  readonly code?: string
  /** Stack frames, without the message above them. */
  readonly frames: readonly string[]
}

/**
 * What may be logged of an error: where it occurred, never its message, because that of a library may hold a secret.
 * For a Failure with a cause these are the fields of the cause, under the reason of the Failure.
 */
export function errorLogFields(error: unknown): ErrorLogFields {
  if (error instanceof Failure && error.cause !== undefined) {
    return { ...errorLogFields(error.cause), error: error.reason }
  }
  if (!(error instanceof Error)) return { error: typeof error, frames: [] }
  const { message, stack = '' } = error
  const frames = framesBelow(stack, message)
  const code =
    'code' in error && typeof error.code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(error.code)
      ? { code: error.code }
      : {}
  const name = error instanceof Failure ? error.reason : error.name
  return { error: name, ...code, frames: frames.map((frame) => frame.trim()) }
}

/** A line of the message may look like a frame, and of one that was changed later it is not known where it ends. */
function framesBelow(stack: string, message: string): readonly string[] {
  const at = stack.indexOf(message)
  if (at < 0) return []
  const lines = stack.slice(at + message.length).split('\n')
  return lines.filter((line) => /^\s+at /.test(line))
}

/** The reason of a Failure; Internal for every other error. */
export function reasonOf(error: unknown): FailureReason {
  return error instanceof Failure ? error.reason : 'Internal'
}
