import { readFileSync } from 'node:fs'

/** Milliseconds since the start of this process for which its main thread has run, and has waited for a processor. */
export interface ThreadTime {
  readonly ran: number
  readonly waited: number
}

/** Whether the main thread has waited much for a processor lately. */
export interface ProcessorWait {
  /** Called in equal intervals, of which the last five are looked at. */
  readonly look: () => void
  readonly isLong: () => boolean
  /** Forgets what was looked at. */
  readonly reset: () => void
}

const LOOKS = 5
/** Of the time for which it wanted a processor, the part for which it may wait. */
const PART = 1 / 4
/** Less, in milliseconds, is no harm. */
const LEAST_MS = 20
const NANOSECONDS = 1e6

/** Reads the times of the main thread (Linux, Documentation/scheduler/sched-stats.rst); zero where the kernel does not tell them. */
export function readThreadTime(file = '/proc/self/schedstat'): ThreadTime {
  try {
    const [ran = NaN, waited = NaN] = readFileSync(file, 'latin1').split(' ').map(Number)
    return { ran: (ran || 0) / NANOSECONDS, waited: (waited || 0) / NANOSECONDS }
  } catch {
    return { ran: 0, waited: 0 }
  }
}

/** Watches how long the main thread waits for a processor, of its own work and that of others. */
export function watchProcessorWait(read: () => ThreadTime = readThreadTime): ProcessorWait {
  let looks: ThreadTime[] = []
  return {
    look() {
      looks = [...looks, read()].slice(-LOOKS - 1)
    },
    isLong() {
      const [first, last] = [looks[0], looks.at(-1)]
      if (first === undefined || last === undefined) return false
      const waited = last.waited - first.waited
      return waited >= LEAST_MS && waited > PART * (waited + last.ran - first.ran)
    },
    reset() {
      looks = []
    },
  }
}
