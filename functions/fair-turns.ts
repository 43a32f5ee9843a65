import { openFairQueue } from './domain/sharing/fair-queue.ts'
import { countExcess, LONG, type TakenTime } from './domain/sharing/taken-time.ts'

/**
 * Runs `work` when it is the owner's turn. Rejects with the signal's reason if it fires before. The signal that `work` gets
 * fires when another owner waits, and its turn has been long. `expected`: milliseconds that it is likely to take; whoever needs
 * less goes first.
 */
export type FairTurns = <T>(
  owner: string,
  signal: AbortSignal,
  work: (othersWait: AbortSignal) => Promise<T>,
  expected?: number,
) => Promise<T>

/** How long a turn may be in milliseconds while others wait. */
export const TURN_MS = 10_000

/**
 * Runs so many works at a time, in the turns of a fair queue. `taken`: what owners have taken. Who begins to wait has one end whose turn
 * has been long.
 */
export function openFairTurns(
  turnMs: number = TURN_MS,
  elapsed: () => number = () => performance.now(),
  taken: TakenTime = countExcess(LONG, elapsed),
  places = 1,
): FairTurns {
  const held = new Set<() => boolean>()
  const waits = (): void => void [...held].some((giveWay) => giveWay())
  const queue = openFairQueue(places, { waits, elapsed, taken })

  return async function inTurn(owner, signal, work, expected) {
    const release = await queue.enter(owner, signal, 'last', expected)
    const othersWait = new AbortController()
    let isLong = false
    /** Whether it does from now on. */
    function giveWay(): boolean {
      if (!isLong || othersWait.signal.aborted || !queue.othersWait(owner)) return false
      othersWait.abort(new Error('Others wait.'))
      return true
    }
    held.add(giveWay)
    const timer = setTimeout(() => {
      isLong = true
      giveWay()
    }, turnMs)
    try {
      return await work(othersWait.signal)
    } finally {
      clearTimeout(timer)
      held.delete(giveWay)
      release()
    }
  }
}
