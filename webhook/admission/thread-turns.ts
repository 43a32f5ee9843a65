import { setImmediate } from 'node:timers'
import { openFairQueue } from '../../functions/domain/sharing/fair-queue.ts'

/**
 * Does work that holds the thread when it is the turn of the namespace. Throws what `work` throws, and the signal's reason
 * if that fires before.
 */
export type ThreadTurns = <T>(namespace: string, signal: AbortSignal, work: () => T) => Promise<T>

/**
 * Shares the thread of all reviews among namespaces: one work in a turn of the event loop, next of the namespace that has
 * taken the least time. Dry runs cost their sender nothing, and a review with large Secrets holds the thread for 0.1 s:
 * without this, 20 of them at once keep the reviews of all others waiting for 2 s. `elapsed` is in milliseconds of a clock
 * that is never set.
 */
export function shareThread(elapsed: () => number): ThreadTurns {
  // Whoever continues in this turn of the event loop gets in line before the next one is chosen.
  const queue = openFairQueue(1, { elapsed, handOver: (next) => void setImmediate(next) })

  return async function inTurn(namespace, signal, work) {
    const release = await queue.enter(namespace, signal)
    try {
      return work()
    } finally {
      release()
    }
  }
}
