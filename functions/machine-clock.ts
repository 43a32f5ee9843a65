import { uptime } from 'node:os'

/** What a test replaces: milliseconds of two clocks of the machine. */
export interface MachineClocks {
  /** It stands still while the machine is suspended (CLOCK_MONOTONIC). */
  readonly running: () => number
  /** It does not, but is less exact (CLOCK_BOOTTIME; see clock_gettime(2)). */
  readonly sinceBoot: () => number
}

const REAL: MachineClocks = { running: () => performance.now(), sinceBoot: () => uptime() * 1_000 }

/** By so much, in milliseconds, the two may differ for other reasons. */
const LEAST_MS = 1_000

/**
 * A clock that is never set, in milliseconds, for which the time in which the machine was suspended has passed as well: for others it
 * has, and they may have taken over what this process had claimed.
 */
export function openMachineClock({ running, sinceBoot }: MachineClocks = REAL): () => number {
  const atStart = sinceBoot() - running()
  let suspended = 0
  return () => {
    const now = running()
    const more = sinceBoot() - now - atStart
    if (more >= LEAST_MS) suspended = Math.max(suspended, more)
    return now + suspended
  }
}
