import type { Change, Landed } from '../../domain/commit/change.ts'
import type { Failure } from '../../domain/failure.ts'

/** One change that waits for its commit. */
export interface PendingChange {
  readonly change: Change
  /** Date of the commit; the same in each round, so that the same edit on the same tip is the same commit. */
  readonly date: Date
  /** Fires when the caller no longer waits for this change. */
  readonly signal: AbortSignal
}

/** How changes ended; a change without an entry has not ended yet. */
export type Settled = ReadonlyMap<PendingChange, Landed | Failure>

/** Those that have not ended, in their order. */
export function restOf(batch: readonly PendingChange[], settled: Settled): readonly PendingChange[] {
  return batch.filter((pending) => !settled.has(pending))
}

/** The same failure for all of them. */
export function failAll(batch: readonly PendingChange[], failure: Failure): Settled {
  return new Map(batch.map((pending) => [pending, failure]))
}

/** Whether the caller still waits for this change. */
export function isWaitedFor({ signal }: PendingChange): boolean {
  return !signal.aborted
}
