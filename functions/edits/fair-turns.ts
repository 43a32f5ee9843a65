import { makeAllowance, type Allowance } from '../domain/allowance.ts'

/**
 * Runs `work` when it is the owner's turn. Rejects with the signal's reason if it fires before. The signal that `work` gets
 * fires when another owner waits, and its turn has been long.
 */
export type FairTurns = <T>(
  owner: string,
  signal: AbortSignal,
  work: (othersWait: AbortSignal) => Promise<T>,
) => Promise<T>

type Start = () => void

/** How long a turn may be in milliseconds while others wait. */
export const TURN_MS = 10_000
/** Milliseconds that an owner may take in a second without coming after others. */
const MS_PER_SECOND = 250
/** Owners who have taken about as much, in milliseconds, take turns. */
const SAME_MS = 1_000
/** Most owners whose time is remembered; beyond that the one that came first is forgotten. */
const REMEMBERED = 10_000

/**
 * Runs one work at a time. Next is an owner who has taken the least time; those who have taken about as much take turns,
 * however much each of them has to do. So whoever has taken little waits for one turn, whatever the others do.
 */
export function openFairTurns(
  turnMs: number = TURN_MS,
  elapsed: () => number = () => performance.now(),
): FairTurns {
  // In the order of their next turn.
  const waiting = new Map<string, readonly Start[]>()
  const shares = new Map<string, Allowance>()
  let isBusy = false
  let noteWaiting: () => void = () => undefined

  function shareOf(owner: string): Allowance {
    const known = shares.get(owner)
    if (known !== undefined) return known
    const share = makeAllowance(0, MS_PER_SECOND, elapsed)
    const [oldest] = shares.keys()
    if (oldest !== undefined && shares.size >= REMEMBERED) shares.delete(oldest)
    shares.set(owner, share)
    return share
  }

  function excessOf(owner: string): number {
    return Math.floor(-shareOf(owner).left() / SAME_MS)
  }

  function startNext(): void {
    const [next] = [...waiting].toSorted(([a], [b]) => excessOf(a) - excessOf(b))
    isBusy = next !== undefined
    if (next === undefined) return
    const [owner, [start, ...rest]] = next
    waiting.delete(owner)
    if (rest.length > 0) waiting.set(owner, rest)
    start?.()
  }

  async function wait(owner: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>()
    const start = (): void => resolve(undefined)
    waiting.set(owner, [...(waiting.get(owner) ?? []), start])
    noteWaiting()
    function giveUp(): void {
      const rest = (waiting.get(owner) ?? []).filter((other) => other !== start)
      if (rest.length > 0) waiting.set(owner, rest)
      else waiting.delete(owner)
      reject(signal.reason)
    }
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  async function takeTurn<T>(owner: string, work: (othersWait: AbortSignal) => Promise<T>): Promise<T> {
    const began = elapsed()
    const othersWait = new AbortController()
    let isLong = false
    noteWaiting = () => {
      const others = [...waiting.keys()].some((other) => other !== owner)
      if (isLong && others) othersWait.abort(new Error('Others wait.'))
    }
    const timer = setTimeout(() => {
      isLong = true
      noteWaiting()
    }, turnMs)
    try {
      return await work(othersWait.signal)
    } finally {
      clearTimeout(timer)
      shareOf(owner).spend(elapsed() - began)
    }
  }

  return async function inTurn(owner, signal, work) {
    signal.throwIfAborted()
    if (isBusy) await wait(owner, signal)
    isBusy = true
    try {
      return await takeTurn(owner, work)
    } finally {
      startNext()
    }
  }
}
