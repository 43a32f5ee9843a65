/**
 * Seconds of a Retry-After field (RFC 9110, 10.2.3), whole and not below 0: the number in the field, or the time from
 * `now` until its date. `now` is in milliseconds since 1970, preferably the Date of the same answer. There is no upper
 * limit: the caller knows how long it can wait. Undefined for anything else.
 */
export function readRetryAfter(field: string, now: number): number | undefined {
  const text = field.trim()
  if (/^\d+$/.test(text)) return Number(text)
  // All three forms of a date begin with the day's name (RFC 9110, 5.6.7); Date.parse accepts much more.
  const seconds = /^[A-Za-z]/.test(text) ? (Date.parse(text) - now) / 1000 : Number.NaN
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds))
}

/** The two headers of an answer; empty or undefined: it has none. */
export interface RetryAfterHeaders {
  readonly retryAfter: string | undefined
  readonly date: string | undefined
}

/** The same by the clock of the server, if its answer has a Date, and otherwise by ours. */
export function retryAfterOf(
  { retryAfter = '', date = '' }: RetryAfterHeaders,
  ours: number,
): number | undefined {
  const theirs = Date.parse(date)
  return readRetryAfter(retryAfter, Number.isNaN(theirs) ? ours : theirs)
}
