import { setTimeout as pause } from 'node:timers/promises'

/** Milliseconds of a clock that is never set, and a wait that keeps no process alive. */
export interface RestClock {
  readonly elapsed: () => number
  readonly wait: (milliseconds: number) => Promise<unknown>
}

export const REST_CLOCK: RestClock = {
  elapsed: () => performance.now(),
  wait: (milliseconds) => pause(milliseconds, undefined, { ref: false }),
}

const LONGEST_REST_MS = 1_000

/**
 * Waits for as long as a call has taken that began then, of a second at most: calls that follow each other take half of a core of the
 * API server. `mostMs`: less than a second, of a call that cannot have taken it longer.
 */
export async function restAfter(
  began: number,
  { elapsed, wait }: RestClock,
  mostMs = LONGEST_REST_MS,
): Promise<void> {
  await wait(Math.min(LONGEST_REST_MS, mostMs, elapsed() - began))
}
