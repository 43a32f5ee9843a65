import { setImmediate } from 'node:timers'
import { LRUCache } from 'lru-cache'
import { openFairQueue, type FairQueue } from '../../functions/domain/sharing/fair-queue.ts'
import { countExcess, countInProportion, SHORT } from '../../functions/domain/sharing/taken-time.ts'
import { TIMING } from '../../functions/net/timing.ts'

/**
 * Does work that holds the thread when it is the turn of the namespace at the address from which the review has come. Throws
 * what `work` throws, and the signal's reason if that fires before.
 */
export type ThreadTurns = <T>(
  namespace: string,
  signal: AbortSignal,
  work: () => T,
  address?: string,
) => Promise<T>

/** Addresses of whose namespaces it is remembered which has taken how much. */
const MOST_ADDRESSES = 32
/**
 * Milliseconds of a turn of the event loop for works: none begins after that. Turns are long while many wait for answers of the
 * API server, and most works are short.
 */
const MOST_MS = 10
/**
 * What a work of an address counts at most: an API server brings the reviews of all tenants, and one of them may have long ones,
 * after each of which the others would wait for as much of every other address.
 */
const MOST_COUNTED_MS = 10

/** The turns of the namespaces at an address. */
interface AtAddress {
  readonly queue: FairQueue
  /** Adds the milliseconds of a work: what it has waited for works of other addresses, its namespace has not taken. */
  readonly count: (milliseconds: number) => void
}

/**
 * Shares the thread of all reviews among the addresses that they come from, in equal parts as far as works are short, and the part of
 * an address among the namespaces that it names: next is whichever has taken the least time, and what takes long is the last work
 * of a turn of the event loop. Dry runs cost their sender nothing, and a review with large Secrets holds the thread for 0.1 s:
 * without this, 20 of them at once keep the reviews of all others waiting for 2 s. A pod that is no API server may name any number
 * of namespaces. `elapsed` is in milliseconds of a clock that is never set.
 */
export function shareThread(elapsed: () => number): ThreadTurns {
  const { doNext } = TIMING
  // Whoever continues at once gets in line before the next one is chosen: first at its address, whose next one is then among those
  // of all addresses.
  const ofAll = openFairQueue(1, { elapsed, handOver, taken: countInProportion(MOST_COUNTED_MS) })
  const ofAddresses = new LRUCache<string, AtAddress>({ max: MOST_ADDRESSES })
  let left = MOST_MS
  let isCounting = false

  function handOver(next: () => void): void {
    if (left > 0) doNext(() => doNext(next))
    else setImmediate(next)
  }

  function spend(milliseconds: number): void {
    left -= milliseconds
    if (isCounting) return
    isCounting = true
    setImmediate(() => {
      isCounting = false
      left = MOST_MS
    })
  }

  function at(address: string): AtAddress {
    const known = ofAddresses.get(address)
    if (known !== undefined) return known
    let worked = 0
    const taken = countExcess(SHORT, elapsed)
    const queue = openFairQueue(1, { elapsed: () => worked, handOver: doNext, taken })
    const one: AtAddress = { queue, count: (milliseconds) => (worked += milliseconds) }
    ofAddresses.set(address, one)
    return one
  }

  return async function inTurn(namespace, signal, work, address = '') {
    const { queue, count } = at(address)
    const leave = await queue.enter(namespace, signal)
    try {
      const release = await ofAll.enter(address, signal)
      const began = elapsed()
      try {
        return work()
      } finally {
        const took = elapsed() - began
        spend(took)
        count(took)
        release()
      }
    } finally {
      leave()
    }
  }
}
