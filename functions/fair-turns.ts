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

/** Runs one work at a time, in the turns of a fair queue. `taken`: what owners have taken. */
export function openFairTurns(
  turnMs: number = TURN_MS,
  elapsed: () => number = () => performance.now(),
  taken: TakenTime = countExcess(LONG, elapsed),
): FairTurns {
  let noteWaiting: () => void = () => undefined
  const waits = (): void => noteWaiting()
  const queue = openFairQueue(1, { waits, elapsed, taken })

  return async function inTurn(owner, signal, work, expected) {
    const release = await queue.enter(owner, signal, 'last', expected)
    const othersWait = new AbortController()
    let isLong = false
    noteWaiting = () => {
      if (isLong && queue.othersWait(owner)) othersWait.abort(new Error('Others wait.'))
    }
    const timer = setTimeout(() => {
      isLong = true
      noteWaiting()
    }, turnMs)
    try {
      return await work(othersWait.signal)
    } finally {
      clearTimeout(timer)
      release()
    }
  }
}
