import { LRUCache } from 'lru-cache'
import { Failure } from '../../domain/failure.ts'
import type { Fetch } from '../../domain/pull-request/pull-requests.ts'
import { LONGEST_RETRY_AFTER_S } from '../../domain/resource/backoff.ts'
import { countLately, type CountedLately, type KnownLimit } from './counted-lately.ts'
import { hasShare, type RequestCount } from './request-count.ts'

/** Shares the requests that a host allows a login in a while among the namespaces that use it. */
export interface RequestShares {
  /** The same calls, but no more of them than the owner's share. */
  share(fetch: Fetch, sharer: Sharer): Fetch
  /** Whether the error says that an owner has had its share, which is no limit for others. */
  readonly isOwn: (error: unknown) => boolean
}

/** Who makes requests. */
interface Sharer {
  /** Equal for what the host counts together. */
  readonly shared: string
  readonly owner: string
  /** What the host is known to allow, for what it does not tell of in its answers. */
  readonly known?: KnownLimit | undefined
}

/** A while of which the host tells how many requests are left. */
interface ToldWhile extends RequestCount {
  /** When the next one begins, as the host writes it. */
  readonly reset: string
  /** In milliseconds of `now`. */
  readonly ends: number
  /** As the host has said last. */
  left: number
}

/** Most logins; beyond that the least recently used one is forgotten, which gives its owners new shares. */
const MOST_LOGINS = 1_000
/** What hosts call the number of requests that are left, and the time of the next window in seconds since 1970. */
const HEADERS = ['x-ratelimit', 'ratelimit'].map((name) => [`${name}-remaining`, `${name}-reset`] as const)

/**
 * `now` is in milliseconds of a clock that is never set. Hosts that tell nothing of a limit have none, unless one is known: then
 * the requests of the last while are counted.
 */
export function makeRequestShares(now: () => number): RequestShares {
  const told = new LRUCache<string, ToldWhile>({ max: MOST_LOGINS })
  const lately = new LRUCache<string, CountedLately>({ max: MOST_LOGINS })
  const own = new WeakSet<Failure>()

  function toldOf(shared: string): ToldWhile | undefined {
    const window = told.get(shared)
    return window === undefined || window.ends <= now() ? undefined : window
  }

  function latelyOf({ shared, known }: Sharer): CountedLately | undefined {
    if (known === undefined) return undefined
    const count = lately.get(shared) ?? countLately(known, now)
    lately.set(shared, count)
    return count
  }

  function note(sharer: Sharer, headers: Headers): void {
    const raisedBy = sharer.known?.raisedBy
    if (raisedBy !== undefined) latelyOf(sharer)?.raise(numberIn(headers.get(raisedBy)) ?? 0)
    for (const [remaining, reset] of HEADERS) {
      const [left, ends] = [numberIn(headers.get(remaining)), headers.get(reset)?.trim() ?? '']
      const seconds = (numberIn(ends) ?? NaN) - Date.parse(headers.get('date') ?? '') / 1000
      if (left === undefined || !(seconds > 0)) continue
      const known = toldOf(sharer.shared)
      const window = known?.reset === ends ? known : begun(ends, now() + seconds * 1000, left)
      window.left = left
      told.set(sharer.shared, window)
    }
  }

  function requireShare(sharer: Sharer, url: string, requests: number): void {
    const { shared, owner } = sharer
    const counts = [toldOf(shared), latelyOf(sharer)].filter((count) => count !== undefined)
    const spent = counts.find((count) => !hasShare(count, owner))
    if (spent === undefined) {
      for (const count of counts) count.add(owner, requests)
      return
    }
    const failure = hadItsShare(new URL(url).host, (spent.moreAt(owner) - now()) / 1000)
    own.add(failure)
    throw failure
  }

  return {
    share: (fetch, sharer) =>
      async function fetchInShare(url, init) {
        requireShare(sharer, url, countedFor(init, sharer))
        const answer = await fetch(url, init)
        note(sharer, answer.headers)
        return answer
      },
    isOwn: (error) => error instanceof Failure && own.has(error),
  }
}

function countedFor({ method }: Parameters<Fetch>[1], { known }: Sharer): number {
  return method === 'GET' ? 1 : (known?.changeCounts ?? 1)
}

/** One of which this is the first that the host has told. */
function begun(reset: string, ends: number, left: number): ToldWhile {
  const made = new Map<string, number>()
  const madeBy = (owner: string): number => made.get(owner) ?? 0
  return {
    reset,
    ends,
    most: left,
    left,
    madeBy,
    add: (owner) => void made.set(owner, madeBy(owner) + 1),
    moreAt: () => ends,
  }
}

function numberIn(text: string | null): number | undefined {
  return text !== null && /^\d{1,12}$/.test(text.trim()) ? Number(text) : undefined
}

function hadItsShare(host: string, seconds: number): Failure {
  const message = `This namespace has had its share of the requests that ${host} allows the operator's default credentials for now; Commitlet retries when more are allowed, or name a Secret in spec.credentials.`
  const retryAfterSeconds = Math.min(Math.max(1, Math.ceil(seconds)), LONGEST_RETRY_AFTER_S)
  return new Failure('RateLimited', message, { retryAfterSeconds })
}
