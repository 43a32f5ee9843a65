import { setTimeout as pause } from 'node:timers/promises'
import type { Timing } from '../domain/incoming/timing.ts'

/** The clock of the connections of a server, and its order of work. */
export const TIMING: Timing = {
  wait: (milliseconds, signal) => pause(milliseconds, undefined, { signal }),
  doNext: (work) => process.nextTick(queueMicrotask, work),
  nextTurn: setImmediate,
  elapsed: () => performance.now(),
}
