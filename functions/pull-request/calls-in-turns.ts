import type { Share } from '../domain/network/share.ts'
import type { Fetch } from '../domain/pull-request/pull-requests.ts'
import type { ClaimCheck } from '../domain/resource/claims.ts'
import type { HeldTurn } from '../domain/sharing/keyed-turns.ts'

/**
 * The same, but the turn is passed on before a call that reads or adds something, if others wait. Not before one that
 * changes what there is: what it rests on was read just before, and others could change it meanwhile. The claim is
 * confirmed before each call that is no GET, and such a call begins only while what was confirmed may still be sent: a
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
 * The same share, for which the turn is not held: whoever has used theirs up keeps nobody with the same token waiting. Where
 * the turn is kept, the work is urgent.
 */
export function withoutTurn(share: Share, turn: HeldTurn): Share {
  return (work) => (turn.isKept() ? share(work, true) : turn.without(() => share(work)))
}
