/**
 * A commit bears the time at which its change began to wait, or what the clock of another writer said, so that later ones on top of it
 * may have older dates: a history is searched from so many milliseconds before the attempts began.
 */
const CLOCK_MARGIN_MS = 3_600_000
/** The same within an attempt, which searches at once, and again in each round: no change waits longer than ATTEMPT_DEADLINE may say. */
const WAIT_MARGIN_MS = 600_000

/** From when on the history is searched for a commit of attempts that have begun at this time. */
export function searchedFrom(began: Date): Date {
  return new Date(began.getTime() - CLOCK_MARGIN_MS)
}

/** The same for a commit of this attempt, which bears this date. */
export function searchedInAttemptFrom(date: Date): Date {
  return new Date(date.getTime() - WAIT_MARGIN_MS)
}
