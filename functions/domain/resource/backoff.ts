import type { Failure } from '../failure.ts'

/** Transient failures: 5 s · 2.35^(n-1) with full jitter, which makes 12 attempts last about 6 h on average. */
const FIRST_DELAY_S = 5
const FACTOR = 2.35
/** No two attempts are further apart, whatever RETRY_LIMIT says: 6 h. */
const LONGEST_PAUSE_S = 21_600
/** Seconds of patience that a remote may ask for: an hour. */
export const LONGEST_RETRY_AFTER_S = 3600
/** Slow failures: when to look again after the first attempt: 5 min, then 30 min, 2 h, 6 h and 6 h later. */
const SLOW_MARKS_S = [300, 2_100, 9_300, 30_900, 52_500] as const
/**
 * A host that limits requests is at work: who waits for his turn waits for a day, at most an hour at a time, however
 * often he is told to.
 */
const LONGEST_LIMITED_S = 86_400
/** A sweep comes a little after the time that was set; the next mark is then the one that counts. */
const SHORTEST_DELAY_S = 1

export interface Attempts {
  /** Attempts made so far, the one that failed included. */
  readonly attempts: number
  /** RETRY_LIMIT. */
  readonly limit: number
  /** Seconds since the first attempt began. */
  readonly elapsedSeconds: number
  /** A number from 0 to 1, drawn anew for each call. */
  readonly random: number
}

/** Seconds until the next attempt, or `exhausted` (transient budget) or `final` (it does not help, or no more). */
export function nextDelay(failure: Failure, tries: Attempts): number | 'final' | 'exhausted' {
  if (failure.retry === 'never') return 'final'
  if (failure.retry === 'slow') return slowDelay(tries)
  const limited = failure.reason === 'RateLimited'
  const spent = limited ? tries.elapsedSeconds >= LONGEST_LIMITED_S : tries.attempts >= tries.limit
  if (spent) return 'exhausted'
  const pause = FIRST_DELAY_S * FACTOR ** (tries.attempts - 1)
  const jittered = tries.random * Math.min(pause, limited ? LONGEST_RETRY_AFTER_S : LONGEST_PAUSE_S)
  const asked = Math.min(failure.retryAfterSeconds ?? 0, LONGEST_RETRY_AFTER_S)
  return Math.max(SHORTEST_DELAY_S, Math.ceil(jittered), Math.ceil(asked))
}

function slowDelay(tries: Attempts): number | 'final' {
  const mark = SLOW_MARKS_S.find((seconds) => seconds > tries.elapsedSeconds)
  return mark === undefined ? 'final' : Math.max(SHORTEST_DELAY_S, Math.ceil(mark - tries.elapsedSeconds))
}
