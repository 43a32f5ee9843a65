import { Failure } from './domain/failure.ts'

/** Remembers which limits were reached, so that nobody runs into them again before they end. */
export interface Brake {
  /** Throws RateLimited, without a call, while the limit of this key holds. */
  check(key: string): void
  /** Passes a failure on; a RateLimited one with a time holds for the key until then. */
  heed(key: string, error: unknown): unknown
}

/** Keys at once: beyond that the oldest is forgotten, which costs one call. */
const MOST = 10_000
const LONGEST_MS = 3_600_000

/** Makes the memory of limits of this process. `now` in milliseconds. */
export function makeBrake(now: () => number): Brake {
  const limits = new Map<string, { readonly until: number; readonly message: string }>()
  return {
    check(key) {
      const limit = limits.get(key)
      if (limit === undefined) return
      const seconds = Math.ceil((limit.until - now()) / 1000)
      if (seconds > 0) throw new Failure('RateLimited', limit.message, { retryAfterSeconds: seconds })
      limits.delete(key)
    },
    heed(key, error) {
      if (!(error instanceof Failure) || error.reason !== 'RateLimited') return error
      const wait = Math.min((error.retryAfterSeconds ?? 0) * 1000, LONGEST_MS)
      if (wait > 0) {
        limits.delete(key)
        limits.set(key, { until: now() + wait, message: error.message })
      }
      const [oldest] = limits.keys()
      if (limits.size > MOST && oldest !== undefined) limits.delete(oldest)
      return error
    },
  }
}
