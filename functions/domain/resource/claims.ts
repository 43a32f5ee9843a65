import type { Status } from './stored-status.ts'

/**
 * A claim holds for this long from its last write, by the API server's clock: `nextAttemptTime` says until when. Once it
 * has passed, another attempt may take over.
 */
export const CLAIM_SECONDS = 30
/** A living attempt writes its claim again when it is as old as this, by its process's own clock, which is never set. */
export const RENEWED_AFTER_MS = 10_000
/** A claim that was written less than this ago is confirmed: nobody takes over within the next nine seconds. */
const CONFIRMED_MS = 20_000
/** Until then the first byte of a push has to be on its way. */
const SENT_WITHIN_MS = 25_000
/** No namespace is deleted, with all that it holds, and made and filled again in this time. */
const THERE_MS = 2_000
/** How long others wait while a claim is written that is not theirs: its writes may wait for those of its namespace. */
const OTHERS_WAIT_MS = 2_000

/**
 * What every write to a remote depends on: an attempt that was held up for longer than its claim would otherwise write
 * old content after new.
 */
export interface ClaimCheck {
  /**
   * Makes sure that the claim was written less than 20 s ago, by a write of its own where it was not. `afresh`: by a write
   * of its own in any case, because others were at work at the remote. `withinMs`: others wait for it, but no longer.
   * @throws Failure Conflict if another attempt has taken over or the time is over, and what the API server answers
   */
  readonly confirm: (afresh?: boolean, withinMs?: number) => Promise<void>
  /** How long what was confirmed may still be sent, in milliseconds; 0 or less: it must not be sent any more. */
  readonly remaining: () => number
}

/**
 * The least age of a claim in milliseconds by the clock by which others may take it over: 30 s less what is left until
 * `nextAttemptTime`. That may be more than by the clock of the process, for what it knew of the other one may have been old.
 */
export function ageForOthers({ nextAttemptTime = '' }: Pick<Status, 'nextAttemptTime'>, now: Date): number {
  return now.getTime() - Date.parse(nextAttemptTime) + CLAIM_SECONDS * 1_000 || 0
}

/** Whether a claim that was last written so many milliseconds ago needs no further write before a push. */
export function isConfirmed(age: number): boolean {
  return age < CONFIRMED_MS
}

/** Whether a resource whose claim was written so many milliseconds ago has to be looked for, in case it was deleted since. */
export function mayBeGone(age: number): boolean {
  return age >= THERE_MS
}

/** How long a push may still begin that rests on a claim which was last written so many milliseconds ago. */
export function remainingOf(age: number): number {
  return SENT_WITHIN_MS - age
}

/** The same claim, for which others do not wait long. */
export function confirmedInTime({ confirm, remaining }: ClaimCheck): ClaimCheck {
  return { remaining, confirm: (afresh) => confirm(afresh, OTHERS_WAIT_MS) }
}
