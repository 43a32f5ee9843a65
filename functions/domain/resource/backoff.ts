import type { Failure } from '../failure.ts'
import { REASONS, type FailureReason, type ReasonRow } from '../reasons.ts'

/** Transient failures: 5 s · 2.35^(n-1) with full jitter, which makes 12 attempts last about 6 h on average. */
const FIRST_DELAY_S = 5
const FACTOR = 2.35
/** The longest pause between two attempts, for any RETRY_LIMIT: 6 h. */
const LONGEST_PAUSE_S = 21_600
/** Times in a status are whole seconds, and the API servers of a cluster need not agree on them. */
const MARGIN_S = 60
/** The longest pause that a remote may ask for: an hour. */
export const LONGEST_RETRY_AFTER_S = 3600
/** Slow failures: seconds after the first attempt at which the next ones are due: 5 min, then 30 min, 2 h, 6 h and 6 h later. */
const SLOW_MARKS_S = [300, 2_100, 9_300, 30_900, 52_500] as const
/** Seconds after the first attempt for which Commitlet looks for what was missing, instead of making attempts. */
export const LOOKS_S = 600
/** A budget of a day: any number of attempts in that time, never more than an hour apart. */
const DAY_S = 86_400
const LONGEST_PAUSE_OF_A_DAY_S = LONGEST_RETRY_AFTER_S
/** A sweep runs a little after the time that was set, so the next delay is never shorter than this. */
const SHORTEST_DELAY_S = 1

/** The attempts at one generation so far. */
export interface AttemptHistory {
  /** Attempts so far, including the one that failed. */
  readonly attempts: number
  /** RETRY_LIMIT. */
  readonly limit: number
  /** Seconds since the first attempt began. */
  readonly elapsedSeconds: number
  /** A number from 0 to 1, drawn for each call. */
  readonly random: number
  /** Whether it is known what was missing, so that Commitlet can look for it. */
  readonly looks?: boolean
  /** Why the attempt before has failed; left out: there was none. */
  readonly before?: FailureReason | undefined
}

/**
 * Seconds until the next attempt; `final` if a retry does not help, or not any more; `exhausted` if the budget of a
 * transient failure is spent. Failures that have another budget may have made any number of attempts before: the first one of
 * this budget after them does not end the resource.
 */
export function nextDelay(failure: Failure, history: AttemptHistory): number | 'final' | 'exhausted' {
  if (failure.retry === 'never') return 'final'
  if (failure.retry === 'slow') return slowDelay(history)
  const { looks = false, elapsedSeconds } = history
  // However many attempts there were: each began because something that was missing had come.
  if (failure.retry === 'reference' && looks && elapsedSeconds < LOOKS_S)
    return Math.max(SHORTEST_DELAY_S, Math.ceil(LOOKS_S - elapsedSeconds))
  const forADay = REASONS[failure.reason].budget === 'day'
  if (forADay ? elapsedSeconds >= DAY_S : areSpent(failure, history)) return 'exhausted'
  const pause = FIRST_DELAY_S * FACTOR ** (history.attempts - 1)
  const jittered = history.random * Math.min(pause, forADay ? LONGEST_PAUSE_OF_A_DAY_S : LONGEST_PAUSE_S)
  const retryAfter = Math.min(failure.retryAfterSeconds ?? 0, LONGEST_RETRY_AFTER_S)
  return Math.max(SHORTEST_DELAY_S, Math.ceil(jittered), Math.ceil(retryAfter))
}

/**
 * Whether this time of a status is still to come; `now` in milliseconds since 1970. One that is further ahead than any pause was written by
 * a clock that was set back since, perhaps by years.
 */
export function isAhead(time: string | undefined, now: number): boolean {
  const milliseconds = Date.parse(time ?? '') - now
  return milliseconds > 0 && milliseconds <= (LONGEST_PAUSE_S + MARGIN_S) * 1000
}

function areSpent(
  { reason }: Failure,
  { attempts, limit, elapsedSeconds, before = reason }: AttemptHistory,
): boolean {
  const isFirst = endOf(before) !== endOf(reason) && elapsedSeconds < DAY_S
  return attempts >= limit && !isFirst
}

/** What ends the retries of failures with this reason; some of a reason that is final by the table are retried slowly. */
function endOf(reason: FailureReason): string {
  const { retry, budget }: ReasonRow = REASONS[reason]
  return budget ?? retry
}

function slowDelay({ elapsedSeconds }: AttemptHistory): number | 'final' {
  const mark = SLOW_MARKS_S.find((seconds) => seconds > elapsedSeconds)
  return mark === undefined ? 'final' : Math.max(SHORTEST_DELAY_S, Math.ceil(mark - elapsedSeconds))
}
