import type { Change, Landed } from '../../domain/commit/change.ts'
import { searchedInAttemptFrom } from '../../domain/commit/clock-margin.ts'
import { asFailure, type Failure } from '../../domain/failure.ts'
import type { ClaimCheck } from '../../domain/resource/claims.ts'
import type { PushWatch } from '../../domain/resource/late-push.ts'
import type { Span } from '../../domain/telemetry/tracer.ts'
import type { EngineName } from '../remote.ts'

/** One change that waits for its commit. */
export interface PendingChange {
  readonly change: Change
  /** Date of the commit; the same in each round, so that the same edit on the same tip is the same commit. */
  readonly date: Date
  /** Fires when the caller no longer waits for this change. */
  readonly signal: AbortSignal
  /** Confirmed before each push; left out: nobody else writes this change. */
  readonly claim?: ClaimCheck | undefined
  /** Told which engine works on it. */
  readonly engineChosen?: PushOptions['engineChosen']
  /** Told of each push of it. */
  readonly pushWatch?: PushOptions['pushWatch']
  readonly span?: PushOptions['span']
}

/** What the caller of a push may add. */
export interface PushOptions {
  /** Date of the commit. Default: the present, by the clock of the machine. */
  readonly date?: Date | undefined
  readonly claim?: ClaimCheck | undefined
  readonly engineChosen?: ((engine: EngineName) => void) | undefined
  readonly pushWatch?: PushWatch | undefined
  /** What the change belongs to in a trace. */
  readonly span?: Span | undefined
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

/** The namespace that the change is of. */
export function namespaceOf({ change }: PendingChange): string {
  return change.namespace
}

/** The same change, whose commit may be in the history. */
export function searchedFor(pending: PendingChange): PendingChange {
  const { change, date } = pending
  return { ...pending, change: { ...change, since: change.since ?? searchedInAttemptFrom(date) } }
}

/** Whether the caller still waits for this change. */
export function isWaitedFor({ signal }: PendingChange): boolean {
  return !signal.aborted
}

/**
 * Confirms the claims of all, and of some `afresh`; returns the failures of those that are not confirmed, and must not be
 * pushed.
 */
export async function unconfirmed(
  batch: readonly PendingChange[],
  afresh: (pending: PendingChange) => boolean,
): Promise<Settled> {
  const failures = await Promise.all(
    batch.map(async (pending) => {
      try {
        await pending.claim?.confirm(afresh(pending))
        return []
      } catch (error) {
        return [[pending, asFailure(error)] as const]
      }
    }),
  )
  return new Map(failures.flat())
}

/** How long a push of all of them may still begin, in milliseconds. */
export function remainingFor(batch: readonly PendingChange[]): number {
  return batch.reduce((least, { claim }) => Math.min(least, claim?.remaining() ?? Infinity), Infinity)
}

/** Tells when nobody waits any more for any of the changes that are open. */
export interface Abandonment {
  readonly signal: AbortSignal
  /** To be called when changes have ended. */
  readonly check: () => void
  /** More changes are open. */
  readonly follow: (changes: Iterable<PendingChange>) => void
  /** Removes all listeners. */
  readonly stop: () => void
}

/** Follows the callers of these changes; those that have ended are removed from `open` by the caller. */
export function signalWhenAbandoned(open: ReadonlyMap<PendingChange, unknown>): Abandonment {
  const abandoned = new AbortController()
  const signals = new Set<AbortSignal>()
  function check(): void {
    if (open.size > 0 && ![...open.keys()].some(isWaitedFor)) abandoned.abort()
  }
  function follow(changes: Iterable<PendingChange>): void {
    for (const { signal } of changes) {
      signals.add(signal)
      signal.addEventListener('abort', check)
    }
  }
  follow(open.keys())
  check()
  return {
    signal: abandoned.signal,
    check,
    follow,
    stop() {
      for (const signal of signals) signal.removeEventListener('abort', check)
    },
  }
}
