import { Failure } from '../failure.ts'
import { APPLIED_TYPES } from './applied-event.ts'
import type { Hint } from './hint.ts'
import { readRef } from './object-ref.ts'

/**
 * Reads the data of an event of the webhook (applied-event.ts): the resource, and which state of it the webhook has
 * admitted. Throws InvalidSpec for other data, and where the type names another kind.
 */
export function readAppliedEvent(data: unknown, type: string): readonly Hint[] {
  const ref = readRef(data, data)
  if (APPLIED_TYPES[ref.kind] === type) return [{ about: 'resource', ref }]
  const kind = type === APPLIED_TYPES.GitCommit ? 'GitCommit' : 'PullRequest'
  throw new Failure('InvalidSpec', `The type of the event names a ${kind}, but its data a ${ref.kind}.`)
}
