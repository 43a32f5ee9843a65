import { openFairQueue } from '../fair-queue.ts'

/** Runs `work` once fewer than the limit run, in the turns of their owners. Throws what `work` throws. */
export type FairSemaphore = <T>(owner: string, work: () => Promise<T>) => Promise<T>

/**
 * Makes a semaphore that runs at most `limit` works at once, whoever's they are; next is an owner who has taken the least time, as
 * of a fair queue. `elapsed`: milliseconds of a clock that is never set.
 */
export function makeFairSemaphore(limit: number, elapsed: () => number): FairSemaphore {
  const queue = openFairQueue(limit, { elapsed })
  // Who has given up stays: others may wait for what the work has to tell.
  const { signal } = new AbortController()
  return async function run(owner, work) {
    const leave = await queue.enter(owner, signal)
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
