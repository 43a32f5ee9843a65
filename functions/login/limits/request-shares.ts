import { LRUCache } from 'lru-cache'
import { Failure } from '../../domain/failure.ts'
import type { Fetch } from '../../domain/pull-request/pull-requests.ts'
import { LONGEST_RETRY_AFTER_S } from '../../domain/resource/backoff.ts'

/** Shares the requests that a host allows a login in a while among the namespaces that use it. */
export interface RequestShares {
  /** The same calls, but no more of them than its share. `shared`: equal for what the host counts together. */
  share(fetch: Fetch, shared: string, owner: string): Fetch
  /** Whether the error says that an owner has had its share, which is no limit for others. */
  readonly isOwn: (error: unknown) => boolean
}

/** A while for which a host counts requests. */
interface CountedWhile {
  /** When the next one begins, as the host writes it. */
  readonly reset: string
  /** In milliseconds of `now`. */
  readonly ends: number
  /** How many requests were left when the first of them was answered. */
  readonly most: number
  /** How many are left, as the host has said last. */
  left: number
  /** How many each owner has made. */
  readonly made: Map<string, number>
}

/** Most logins; beyond that the least recently used one is forgotten, which gives its owners new shares. */
const MOST_LOGINS = 1_000
/**
 * The last eighth of a while's requests is for owners who have made few of them, less than one of 128: where each takes half of
 * what is left, ten have all of GitHub's 5,000.
 */
const OF_FEW = 1 / 8
const FEW = 1 / 128
/** What hosts call the number of requests that are left, and the time of the next window in seconds since 1970. */
const HEADERS = ['x-ratelimit', 'ratelimit'].map((name) => [`${name}-remaining`, `${name}-reset`] as const)

/**
 * An owner may make as many requests as it leaves: one alone half of them, two a third each, and something is always left for
 * those who make few. `now` is in milliseconds of a clock that is never set. Hosts that tell nothing of a limit have none.
 */
export function makeRequestShares(now: () => number): RequestShares {
  const windows = new LRUCache<string, CountedWhile>({ max: MOST_LOGINS })
  const own = new WeakSet<Failure>()

  function windowOf(shared: string): CountedWhile | undefined {
    const window = windows.get(shared)
    return window === undefined || window.ends <= now() ? undefined : window
  }

  function note(shared: string, headers: Headers): void {
    for (const [remaining, reset] of HEADERS) {
      const [left, ends] = [numberIn(headers.get(remaining)), headers.get(reset)?.trim() ?? '']
      const seconds = (numberIn(ends) ?? NaN) - Date.parse(headers.get('date') ?? '') / 1000
      if (left === undefined || !(seconds > 0)) continue
      const known = windowOf(shared)
      const begun = { reset: ends, ends: now() + seconds * 1000, most: left, left, made: new Map() }
      const window = known?.reset === ends ? known : begun
      window.left = left
      windows.set(shared, window)
    }
  }

  function requireShare(shared: string, owner: string, url: string): void {
    const window = windowOf(shared)
    const made = window?.made.get(owner) ?? 0
    if (window === undefined || hasShare(window, made)) {
      window?.made.set(owner, made + 1)
      return
    }
    const failure = hadItsShare(new URL(url).host, (window.ends - now()) / 1000)
    own.add(failure)
    throw failure
  }

  return {
    share: (fetch, shared, owner) =>
      async function fetchInShare(url, init) {
        requireShare(shared, owner, url)
        const answer = await fetch(url, init)
        note(shared, answer.headers)
        return answer
      },
    isOwn: (error) => error instanceof Failure && own.has(error),
  }
}

function hasShare({ most, left }: CountedWhile, made: number): boolean {
  return made <= left && (left > most * OF_FEW || made < most * FEW)
}

function numberIn(text: string | null): number | undefined {
  return text !== null && /^\d{1,12}$/.test(text.trim()) ? Number(text) : undefined
}

function hadItsShare(host: string, seconds: number): Failure {
  const message = `This namespace has had its share of the requests that ${host} allows the operator's default credentials for now; Commitlet retries when more are allowed, or name a Secret in spec.credentials.`
  const retryAfterSeconds = Math.min(Math.max(1, Math.ceil(seconds)), LONGEST_RETRY_AFTER_S)
  return new Failure('RateLimited', message, { retryAfterSeconds })
}
