import { createHash } from 'node:crypto'
import type { ApiLogin } from '../domain/credentials/login.ts'
import { makeKeyedSemaphore } from '../domain/keyed-semaphore.ts'
import { makeRateLimits } from './rate-limits.ts'

/** Bounds the calls of APIs by what hosts count together. */
export interface ApiLimits {
  /**
   * Does the work once few others call with the same token. Throws what `work` throws, and RateLimited without a call while
   * a limit lasts that the host has told of.
   */
  run<T>(counted: CountedLogin, work: () => Promise<T>): Promise<T>
}

/** What hosts count requests by. */
export interface CountedLogin extends Pick<ApiLogin, 'username' | 'secret' | 'issued'> {
  readonly baseURL: string
}

/**
 * Most attempts that call with the same token at once. GitHub recommends serial requests ("Best practices for using the
 * REST API"), and requests that are sent before the first response reports a rate limit are all refused. With a limit of
 * one, a call that hangs would block all others.
 */
const CALLERS_PER_TOKEN = 2

/** Makes the limits of all APIs. `now` in milliseconds. */
export function makeApiLimits(now: () => number): ApiLimits {
  const limits = makeRateLimits(now)
  const fewPerToken = makeKeyedSemaphore(CALLERS_PER_TOKEN)
  return {
    run(counted, work) {
      const key = countedKey(counted)
      return fewPerToken(key, async () => {
        limits.check(key)
        return work().catch((error: unknown) => {
          throw limits.record(key, error)
        })
      })
    },
  }
}

/**
 * A key of what a host counts together. It counts requests by token, and two Secrets may hold the same one; those of an App,
 * by its installation.
 */
export function countedKey({ baseURL, username, secret, issued }: CountedLogin): string {
  const counted = issued === undefined ? [username ?? null, secret] : [issued.counted]
  return createHash('sha256')
    .update(JSON.stringify([baseURL, ...counted]))
    .digest('hex')
}
