import type { Timing } from './timing.ts'

/**
 * Milliseconds of a turn of the event loop for what connections send. More than that may be there at the same moment: 2,000
 * connections with 6 KiB each, in the smallest pieces that are read, take 3 s of the processor.
 */
const MOST_MS = 10

/**
 * Does work for what has come from an address: at once, which is true, or once there is time for it, in one of the next turns of
 * the event loop.
 */
export type InReadingTurn = (address: string | undefined, work: () => void) => boolean

/**
 * Shares the thread among the addresses that connections come from, in turns: whoever sends little waits for one work of each of
 * the others, however much these have sent over however many connections. Work that is done within another is a part of it.
 */
export function openReadingTurns({ elapsed, nextTurn }: Pick<Timing, 'elapsed' | 'nextTurn'>): InReadingTurn {
  // In the order of their next turn.
  const waiting = new Map<string, (() => void)[]>()
  let left = MOST_MS
  let isCounting = false
  let isWithin = false

  function perform(work: () => void): void {
    const began = elapsed()
    isWithin = true
    work()
    isWithin = false
    left -= elapsed() - began
  }

  function takeNext(): (() => void) | undefined {
    const [next] = waiting
    if (next === undefined) return undefined
    const [address, works] = next
    const work = works.shift()
    waiting.delete(address)
    if (works.length > 0) waiting.set(address, works)
    return work
  }

  function countTurn(): void {
    if (isCounting) return
    isCounting = true
    nextTurn(beginTurn)
  }

  function beginTurn(): void {
    isCounting = false
    left = MOST_MS
    if (waiting.size > 0) countTurn()
    while (left > 0) {
      const work = takeNext()
      if (work === undefined) return
      perform(work)
    }
  }

  return function inTurn(address = '', work) {
    if (isWithin) {
      work()
      return true
    }
    countTurn()
    if (left > 0 && waiting.size === 0) {
      perform(work)
      return true
    }
    const works = waiting.get(address) ?? []
    works.push(work)
    waiting.set(address, works)
    return false
  }
}
