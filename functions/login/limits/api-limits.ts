import { setTimeout as pause } from 'node:timers/promises'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import type { Fetch } from '../../domain/pull-request/pull-requests.ts'
import {
  openKeyedTurns,
  type HeldTurn,
  type Lending,
  type TurnTaker,
} from '../../domain/sharing/keyed-turns.ts'
import { CALLS, countWithCredit } from '../../domain/sharing/taken-time.ts'
import { makeRateLimits } from './rate-limits.ts'
import type { KnownLimit } from './counted-lately.ts'
import { makeRequestShares, type RequestShares } from './request-shares.ts'
import { digestOf } from '../../domain/credentials/digest.ts'

/** Bounds the calls of APIs by what hosts count together, and shares what they allow the operator's logins. */
export interface ApiLimits extends RequestShares {
  /**
   * Does the work once few others call with the same token, in fair turns of the owners. Throws what `work` throws, and
   * RateLimited without a call while a limit lasts that the host has told of, also after a turn that was passed on. With
   * the operator's login, the calls of `work` go through `share`.
   */
  run<T>(
    counted: CountedLogin,
    caller: TokenCaller,
    work: (turn: HeldTurn, share: ShareRequests) => Promise<T>,
  ): Promise<T>
}

/** The same calls, in the share of the caller's namespace. `api`: what the host counts apart. */
export type ShareRequests = (fetch: Fetch, api: 'REST' | 'GraphQL') => Fetch

/** Who calls; the owner is a namespace. */
export type TokenCaller = Omit<TurnTaker, 'key'>

/** What hosts count requests by. */
export interface CountedLogin extends Pick<ApiLogin, 'username' | 'secret' | 'issued' | 'ofOperator'> {
  readonly baseURL: string
  /** As in the row of its host. */
  readonly requestsPerHour?: number | undefined
}

/**
 * Most attempts that call with the same token at once. GitHub recommends serial requests ("Best practices for using the
 * REST API"), and requests that are sent before the first response reports a rate limit are all refused. With a limit of
 * one, a call that hangs would block all others. One more is for a namespace that has none while another one has both: calls
 * of an honest host may take long, too.
 */
const CALLERS_PER_TOKEN = 2
/**
 * So long a turn is waited for, in milliseconds; usual calls take a fifth of it. Then another namespace, with none and little taken, may
 * call besides: the host may be slow for one tenant alone, who may have ten namespaces, and what their calls take is known only after
 * them. GitHub refuses more than 100 requests at once ("Rate limits for the REST API"), and there may be several replicas.
 */
const LONG_CALL_MS = 1_500
const MOST_CALLERS = 16
const HOUR_MS = 3_600_000

/** Makes the limits of all APIs. `now`: milliseconds of a clock that is never set. */
export function makeApiLimits(
  now: () => number,
  wait: Lending['wait'] = (milliseconds) => pause(milliseconds, undefined, { ref: false }),
): ApiLimits {
  const limits = makeRateLimits(now)
  const shares = makeRequestShares(now)
  const inTurn = openKeyedTurns(CALLERS_PER_TOKEN, now, {
    spare: true,
    lending: { afterMs: LONG_CALL_MS, most: MOST_CALLERS, wait },
    openTaken: () => countWithCredit(CALLS),
  })
  return {
    ...shares,
    run(counted, caller, work) {
      const key = countedKey(counted)
      return inTurn({ ...caller, key }, async (turn) => {
        limits.check(key)
        const limited: HeldTurn = {
          ...turn,
          async pass() {
            const hasWaited = await turn.pass()
            if (hasWaited) limits.check(key)
            return hasWaited
          },
          async comeBack() {
            await turn.comeBack()
            limits.check(key)
          },
          async without(work) {
            const result = await turn.without(work)
            limits.check(key)
            return result
          },
        }
        const share: ShareRequests = (fetch, api) =>
          counted.ofOperator === true
            ? shares.share(fetch, {
                shared: `${key} ${api}`,
                owner: caller.owner,
                known: hourly(counted.requestsPerHour),
              })
            : fetch
        return work(limited, share).catch((error: unknown) => {
          throw shares.isOwn(error) ? error : limits.record(key, error)
        })
      })
    },
  }
}

/** What a host allows in any hour, where its answers do not tell what is left. Bitbucket may allow a workspace more. */
function hourly(most: number | undefined): KnownLimit | undefined {
  return most === undefined
    ? undefined
    : { most, within: HOUR_MS, changeCounts: 1, raisedBy: 'x-ratelimit-limit' }
}

/**
 * A key of what a host counts together. It counts requests by token, and two Secrets may hold the same one; those of an App,
 * by its installation.
 */
function countedKey({ baseURL, username, secret, issued }: CountedLogin): string {
  const counted = issued === undefined ? [username ?? null, secret] : [issued.counted]
  return digestOf(baseURL, ...counted)
}
