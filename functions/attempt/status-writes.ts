import { Failure } from '../domain/failure.ts'

/** Most writes of a claim, or of a status without an attempt, while other writers change the resource. */
export const MAX_WRITES = 8

/** Others were first at each write of a status. */
export function keptChanging(): Failure {
  const message = 'Other writers kept changing the resource; Commitlet retries automatically.'
  return new Failure('Conflict', message)
}

/** Whether the failure of a write of a status is that of the resource: a repetition would fail as well. */
export function isFinal(error: unknown): error is Failure {
  return error instanceof Failure && error.retry === 'never'
}
