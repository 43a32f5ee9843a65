import type { Timing } from '../functions/domain/incoming/timing.ts'
import { shareSlowWork } from '../functions/domain/sharing/slow-work.ts'

/** A piece of a handshake of an API server takes 2 to 5 ms, both pieces together. */
const BOUNDS = { usual: 10, most: 200, perSecond: 20 }

/** The shares of addresses in the handshakes, which OpenSSL reads in the thread of everybody. */
export interface HandshakeShares {
  /** Resolves once the address may have more read, undefined for now. Rejects once the signal fires. */
  readonly untilFree: (address: string | undefined, signal: AbortSignal) => Promise<unknown> | undefined
  /** Does work of a handshake of the address, and counts the time that it takes. */
  readonly count: (address: string | undefined, work: () => void) => void
}

/**
 * Shares the thread among the addresses whose handshakes are slow: a chain of certificates may be made such that OpenSSL takes
 * 0.1 s and more for its signatures, and does so before the client has proved anything. `taken`: milliseconds of the processor
 * that this process has had.
 */
export function shareHandshakes(
  { elapsed, wait }: Pick<Timing, 'elapsed' | 'wait'>,
  taken: () => number = takenByProcess,
): HandshakeShares {
  const slow = shareSlowWork(BOUNDS, { elapsed, taken })

  return {
    untilFree(address = '', signal) {
      const milliseconds = slow.waitOf(address)
      return milliseconds > 0 ? wait(milliseconds, signal) : undefined
    },
    count: (address = '', work) => slow.count(address, work),
  }
}

function takenByProcess(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
