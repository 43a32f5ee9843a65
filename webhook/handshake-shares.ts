import type { Timing } from '../functions/domain/incoming/timing.ts'
import { makeAllowances } from '../functions/domain/sharing/allowances.ts'

/** Milliseconds of the thread that a piece of a handshake may take uncounted. That of an API server takes 2 to 5, both together. */
const USUAL_MS = 10
/** Milliseconds beyond that which the handshakes of an address may take at once. */
const MOST_MS = 200
/** Milliseconds that it gets back in a second. */
const MS_PER_SECOND = 20

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
 * that this process has had, so that who comes while others have the processor pays nothing.
 */
export function shareHandshakes(
  { elapsed, wait }: Pick<Timing, 'elapsed' | 'wait'>,
  taken: () => number = takenByProcess,
): HandshakeShares {
  // Of those alone that have been slow.
  const shares = makeAllowances(MOST_MS, MS_PER_SECOND, elapsed)

  return {
    untilFree(address = '', signal) {
      const left = shares.known(address)?.left() ?? MOST_MS
      return left > 0 ? undefined : wait((1 - left) * (1_000 / MS_PER_SECOND), signal)
    },
    count(address = '', work) {
      const before = taken()
      work()
      const long = taken() - before - USUAL_MS
      if (long > 0) shares.of(address).spend(long)
    },
  }
}

function takenByProcess(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
