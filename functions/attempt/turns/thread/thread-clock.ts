import { setImmediate, setTimeout } from 'node:timers/promises'

/** What a test replaces. */
export interface ThreadClock {
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number
  /** Resolves in the next turn of the event loop. */
  readonly nextTurn: () => Promise<unknown>
  readonly pause: (milliseconds: number) => Promise<unknown>
}

/** That of the thread which answers probes, and does everybody's work. */
export const REAL: ThreadClock = {
  elapsed: () => performance.now(),
  nextTurn: () => setImmediate(),
  pause: (milliseconds) => setTimeout(milliseconds),
}
