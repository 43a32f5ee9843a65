/**
 * Does the work next, after all callbacks and promises of what runs now, and before anything that comes from outside:
 * a microtask of the next tick.
 */
export type DoNext = (work: () => void) => void

/** The clock, and the order of work. */
export interface Timing {
  /** Resolves after these milliseconds; rejects once the signal fires. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>
  readonly doNext: DoNext
  /** Does the work in the next turn of the event loop. */
  readonly nextTurn: (work: () => void) => void
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number
}
