import type { Release } from '../domain/network/budget.ts'
import type { Fetch } from '../domain/pull-request/pull-requests.ts'
import type { ClaimCheck } from '../domain/resource/claims.ts'
import type { HeldTurn } from '../domain/sharing/keyed-turns.ts'

/**
 * The same, but the turn is passed on before a call that reads or adds something, if others wait. Not before one that
 * changes what there is: what it rests on was read just before, and others could change it meanwhile (who makes several uses `pass` of
 * the Endpoint, and reads it again). The claim is confirmed before each call that is no GET, and such a call begins only while what was confirmed may still be sent: a
 * write of some hosts is several calls, and the process may stand still between them.
 * @throws Failure what `confirm` throws, and Timeout where the connection took too long; nothing is sent then
 */
export function inTurns(fetch: Fetch, turn: HeldTurn, claim: ClaimCheck): Fetch {
  let isFirst = true
  return async function fetchInTurn(url, init) {
    const { method } = init
    if (!isFirst && (method === 'GET' || method === 'POST')) await turn.pass()
    isFirst = false
    if (method === 'GET') return fetch(url, init)
    await claim.confirm()
    return fetch(url, { ...init, mayBegin: () => claim.remaining() > 0 })
  }
}

/**
 * How many values the answers of an attempt may have while the turn is kept, all together: each thousand takes the thread up to
 * 0.8 ms, and nobody waits for a share of it then. A creation or a change has some 2,000, and each pull request that is listed 300.
 */
const MOST_KEPT_VALUES = 50_000

/** What an Endpoint may have asked for each answer: whether it is within that. */
export function boundKeptValues({ isKept }: Pick<HeldTurn, 'isKept'>): (values: number) => boolean {
  let left = MOST_KEPT_VALUES
  return function mayHave(values) {
    if (!isKept()) return true
    left -= values
    return left >= 0
  }
}

/**
 * The same reservation before a change, in which the turn is kept: it is passed on before that, if others wait, and is not held
 * while the reservation has to wait.
 */
export function reserveWithoutTurn(
  reserve: () => Release | Promise<Release>,
  turn: Pick<HeldTurn, 'pass' | 'without'>,
): () => Promise<Release> {
  return async function reserveForTurn() {
    await turn.pass()
    let release: Release = () => undefined
    try {
      const reserved = reserve()
      if (typeof reserved === 'function') return reserved
      await turn.without(async () => {
        release = await reserved
      })
      return release
    } catch (error) {
      release()
      throw error
    }
  }
}
