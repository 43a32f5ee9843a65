import type { Fetch } from '../domain/pull-request/pull-requests.ts'
import type { HeldTurn } from '../keyed-turns.ts'

/**
 * The same, but the turn is passed on between two calls if others wait. `confirm` is called before one that changes
 * something, where it had to wait.
 */
export function inTurns(
  fetch: Fetch,
  turn: HeldTurn,
  confirm: () => Promise<void> = () => Promise.resolve(),
): Fetch {
  let isFirst = true
  return async function fetchInTurn(url, init) {
    const hasWaited = !isFirst && (await turn.pass())
    isFirst = false
    if (hasWaited && init.method !== 'GET') await confirm()
    return fetch(url, init)
  }
}
