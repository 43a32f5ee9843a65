import { Failure } from '../domain/failure.ts'
import { LONGEST_RETRY_AFTER_S } from '../domain/resource/backoff.ts'

/** Remembers which limits were reached, so that nobody runs into them again before they end. */
export interface RateLimits {
  /** Throws RateLimited, without a call, while the limit of this key holds. */
  check(key: string): void
  /**
   * Passes a failure on; a RateLimited one of a host's, with a time, holds for the key until then, and its sentence
   * is what all others with this key are told.
   */
  record(key: string, error: unknown): unknown
}

/** Keys at once: beyond that the oldest is forgotten, which costs one call. */
const MOST = 10_000

/** Makes the memory of limits of this process. `now` in milliseconds. */
export function makeRateLimits(now: () => number): RateLimits {
  const limits = new Map<string, Limit>()
  // They come back with a second begun for a whole one: heeded, a limit would never end.
  const own = new WeakSet<Failure>()
  return {
    check(key) {
      const limit = limits.get(key)
      const seconds = Math.ceil(((limit?.end ?? 0) - now()) / 1000)
      if (limit === undefined || seconds <= 0) {
        limits.delete(key)
        return
      }
      const failure = new Failure('RateLimited', limit.message, { retryAfterSeconds: seconds })
      own.add(failure)
      throw failure
    },
    record(key, error) {
      if (!(error instanceof Failure) || error.reason !== 'RateLimited' || own.has(error)) return error
      const wait = Math.min(error.retryAfterSeconds ?? 0, LONGEST_RETRY_AFTER_S)
      if (!(wait > 0)) return error
      const end = Math.max(limits.get(key)?.end ?? 0, now() + wait * 1000)
      limits.delete(key)
      limits.set(key, { end, message: error.message })
      const [oldest] = limits.keys()
      if (limits.size > MOST && oldest !== undefined) limits.delete(oldest)
      return error
    },
  }
}

interface Limit {
  /** Milliseconds, as `now` counts them. */
  readonly end: number
  readonly message: string
}
