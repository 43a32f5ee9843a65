import type { Change, Landed } from '../../domain/commit/change.ts'
import type { Failure } from '../../domain/failure.ts'

/** One change that waits for its commit. */
export interface PendingChange {
  readonly change: Change
  /** Date of the commit; the same in each round, so that the same edit on the same tip is the same commit. */
  readonly date: Date
  /** Fires when nobody waits for this change any more. */
  readonly signal: AbortSignal
  /** Called once; later calls do nothing. */
  readonly settle: (result: Landed | Failure) => void
}

/** Tells the entry how it ended, and takes it out of those that are left. */
export function settle(left: Set<PendingChange>, entry: PendingChange, result: Landed | Failure): void {
  left.delete(entry)
  entry.settle(result)
}

/** Whether anybody still wants to know how it ends. */
export function isWaitedFor({ signal }: PendingChange): boolean {
  return !signal.aborted
}
