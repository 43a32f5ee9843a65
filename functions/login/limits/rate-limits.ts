import { LRUCache } from 'lru-cache'
import { Failure } from '../../domain/failure.ts'
import { LONGEST_RETRY_AFTER_S } from '../../domain/resource/backoff.ts'

/** Remembers rate limits that were reached, so that no call is made before they end. */
export interface RateLimits {
  /** Throws RateLimited while the limit of this key lasts, so that no call is made. */
  check(key: string): void
  /** Milliseconds for which the limit of this key lasts; 0: there is none. */
  left(key: string): number
  /**
   * Returns the error unchanged. A RateLimited failure with a time sets the limit of this key until then, and `check`
   * throws its message.
   */
  record(key: string, error: unknown): unknown
}

/** Most keys; beyond that the least recently used one is forgotten, which costs one call. */
const MAX_KEYS = 10_000

/** Makes an empty memory of rate limits. `now` in milliseconds. */
export function makeRateLimits(now: () => number): RateLimits {
  // The host's message, for as long as its limit lasts.
  const limits = new LRUCache<string, string>({ max: MAX_KEYS, ttlResolution: 0, perf: { now } })
  // The seconds of our own failures are rounded up: if they were recorded again, a limit would never end.
  const ownFailures = new WeakSet<Failure>()
  return {
    left: (key) => (limits.get(key) === undefined ? 0 : limits.getRemainingTTL(key)),
    check(key) {
      const message = limits.get(key)
      const seconds = Math.ceil(limits.getRemainingTTL(key) / 1000)
      if (message === undefined || seconds <= 0) return
      const failure = new Failure('RateLimited', message, { retryAfterSeconds: seconds })
      ownFailures.add(failure)
      throw failure
    },
    record(key, error) {
      if (!(error instanceof Failure) || error.reason !== 'RateLimited' || ownFailures.has(error))
        return error
      const wait = Math.min(error.retryAfterSeconds ?? 0, LONGEST_RETRY_AFTER_S)
      if (!(wait > 0)) return error
      limits.set(key, error.message, { ttl: Math.max(limits.getRemainingTTL(key), wait * 1000) })
      return error
    },
  }
}
