import { LRUCache } from 'lru-cache'
import { Failure } from '../domain/failure.ts'
import { LONGEST_RETRY_AFTER_S } from '../domain/resource/backoff.ts'

/** Remembers which limits were reached, so that nobody runs into them again before they end. */
export interface RateLimits {
  /** Throws RateLimited, without a call, while the limit of this key holds. */
  check(key: string): void
  /**
   * Passes a failure on; a RateLimited one of a host's, with a time, holds for the key until then, and its sentence
   * is what all others with this key get.
   */
  record(key: string, error: unknown): unknown
}

/** Keys at once: beyond that the one that was used least recently is forgotten, which costs one call. */
const MOST = 10_000

/** Makes the memory of limits of this process. `now` in milliseconds. */
export function makeRateLimits(now: () => number): RateLimits {
  // The host's sentence, for as long as its limit holds.
  const limits = new LRUCache<string, string>({ max: MOST, ttlResolution: 0, perf: { now } })
  // Their seconds are rounded up: recorded again, a limit would never end.
  const own = new WeakSet<Failure>()
  return {
    check(key) {
      const message = limits.get(key)
      const seconds = Math.ceil(limits.getRemainingTTL(key) / 1000)
      if (message === undefined || seconds <= 0) return
      const failure = new Failure('RateLimited', message, { retryAfterSeconds: seconds })
      own.add(failure)
      throw failure
    },
    record(key, error) {
      if (!(error instanceof Failure) || error.reason !== 'RateLimited' || own.has(error)) return error
      const wait = Math.min(error.retryAfterSeconds ?? 0, LONGEST_RETRY_AFTER_S)
      if (!(wait > 0)) return error
      limits.set(key, error.message, { ttl: Math.max(limits.getRemainingTTL(key), wait * 1000) })
      return error
    },
  }
}
