import { makeRounds } from '../sharing/rounds.ts'
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
  const waiting = makeRounds<() => void>()
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

  function countTurn(): void {
    if (isCounting) return
    isCounting = true
    nextTurn(beginTurn)
  }

  function beginTurn(): void {
    isCounting = false
    left = MOST_MS
    if (!waiting.isEmpty()) countTurn()
    while (left > 0) {
      const work = waiting.next()
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
    if (left > 0 && waiting.isEmpty()) {
      perform(work)
      return true
    }
    waiting.add(address, work)
    return false
  }
}
