import { Failure } from './failure.ts'
import type { FailureReason } from './reasons.ts'

/** Where an error arose, fit for a log. */
export interface ErrorLogFields {
  /** The reason of a Failure, else the error's name. */
  readonly error: string
  /** The code that Node gives system errors, such as ECONNREFUSED. */
  readonly code?: string
  /** Stack frames, without the words above them. */
  readonly frames: readonly string[]
}

/**
 * What a log may say of an error: where it arose, never its words, for those of a library may hold what no log may.
 * Of a Failure it tells of the cause, where there is one: its own sentence is safe, and known by its reason.
 */
export function errorLogFields(error: unknown): ErrorLogFields {
  if (error instanceof Failure && error.cause !== undefined) {
    return { ...errorLogFields(error.cause), error: error.reason }
  }
  if (!(error instanceof Error)) return { error: typeof error, frames: [] }
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  const code =
    'code' in error && typeof error.code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(error.code)
      ? { code: error.code }
      : {}
  const name = error instanceof Failure ? error.reason : error.name
  return { error: name, ...code, frames: frames.map((frame) => frame.trim()) }
}

/** The reason of a Failure; Internal for every other error. */
export function reasonOf(error: unknown): FailureReason {
  return error instanceof Failure ? error.reason : 'Internal'
}
