import { setImmediate, setTimeout } from 'node:timers/promises'

/** What a test replaces. */
export interface ThreadClock {
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number
  /** Resolves in one of the next turns of the event loop. */
  readonly nextTurn: () => Promise<unknown>
  readonly pause: (milliseconds: number) => Promise<unknown>
}

/** In each turn one connection of a socket is accepted, whoever opens it, and a probe has to wait for all that were opened before. */
const MOST_TURNS = 16
/** Milliseconds after which there is no further turn: what others send fills turns, and must not keep works from the thread. */
const LONGEST_MS = 5

/**
 * Waits for 16 turns of the event loop, which take less than a millisecond where there is nothing else to do, or, where they take
 * longer, until 5 ms are over. `nextTurn` resolves in the next one.
 */
export async function severalTurns({
  elapsed,
  nextTurn,
}: Pick<ThreadClock, 'elapsed' | 'nextTurn'>): Promise<void> {
  const began = elapsed()
  for (let turns = 0; turns < MOST_TURNS; turns += 1) {
    await nextTurn()
    if (elapsed() - began > LONGEST_MS) return
  }
}

const elapsed = (): number => performance.now()

/** That of the thread which answers probes, and does everybody's work. */
export const REAL: ThreadClock = {
  elapsed,
  nextTurn: () => severalTurns({ elapsed, nextTurn: () => setImmediate() }),
  pause: (milliseconds) => setTimeout(milliseconds),
}
