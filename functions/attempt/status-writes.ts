import { Failure } from '../domain/failure.ts'

/** Most writes of a claim, or of a status without an attempt, while other writers change the resource. */
export const MAX_WRITES = 8

/** Others were first at each write of a status. */
export function keptChanging(): Failure {
  const message = 'Other writers kept changing the resource; Commitlet retries automatically.'
  return new Failure('Conflict', message)
}
