/**
 * A commit bears the time at which its change began to wait, or what the clock of another writer said, so that later ones on top of it
 * may have older dates. A history is searched from so many milliseconds before the oldest date that the commit itself may have.
 */
const CLOCK_MARGIN_MS = 3_600_000

/** From when on the history is searched for a commit of this date, or a later one. */
export function searchedFrom(date: Date): Date {
  return new Date(date.getTime() - CLOCK_MARGIN_MS)
}
