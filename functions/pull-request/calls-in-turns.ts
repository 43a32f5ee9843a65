import type { Fetch } from '../domain/pull-request/pull-requests.ts'
import type { HeldTurn } from '../keyed-turns.ts'

/**
 * The same, but the turn is passed on before a call that reads or adds something, if others wait. Not before one that
 * changes what there is: what it rests on was read just before, and others could change it meanwhile. `confirm` is called
 * before the next call that writes, wherever a call had to wait.
 */
export function inTurns(
  fetch: Fetch,
  turn: HeldTurn,
  confirm: () => Promise<void> = () => Promise.resolve(),
): Fetch {
  let [isFirst, hasWaited] = [true, false]
  return async function fetchInTurn(url, init) {
    const { method } = init
    if (!isFirst && (method === 'GET' || method === 'POST') && (await turn.pass())) hasWaited = true
    isFirst = false
    if (hasWaited && method !== 'GET') {
      await confirm()
      hasWaited = false
    }
    return fetch(url, init)
  }
}
