import { Failure } from '../../domain/failure.ts'
import type { HandshakeShares, ThreadShares } from '../../domain/network/share.ts'
import { makeAllowances } from '../../domain/sharing/allowances.ts'

/** Milliseconds of the thread that a piece of a handshake may take uncounted. Usual ones take some 3. */
const USUAL_MS = 10
/** Milliseconds beyond that which the handshakes of a namespace may take at once. */
const MOST_MS = 100
/** Milliseconds that it gets back in a second. */
const MS_PER_SECOND = 10

/** What a test replaces. */
export interface HandshakeClock {
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number
  /** Milliseconds of the processor that this thread has had: whoever comes while others have it pays nothing. */
  readonly taken: () => number
}

const REAL: HandshakeClock = {
  elapsed: () => performance.now(),
  taken() {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  },
}

/**
 * Handshakes are read in `shares`, and each namespace has a small share of its own for those that are slow: a host may send
 * certificates that take OpenSSL 0.2 s, and ten namespaces of one tenant, each with its share, would hold the thread all
 * the time. Whoever has used it up gets a Timeout at once, because attempts that wait hold sessions.
 */
export function shareHandshakes(
  shares: ThreadShares,
  { elapsed, taken }: HandshakeClock = REAL,
): HandshakeShares {
  // Of those alone that have been slow.
  const slow = makeAllowances(MOST_MS, MS_PER_SECOND, elapsed)

  return {
    ...shares,
    withOperatorsLogin: (namespace, work, signal) => shares.workFor(namespace, work, signal, true),
    workFor(namespace, work, signal, isUrgent) {
      const bounded: typeof work = () => {
        const left = slow.known(namespace)?.left() ?? MOST_MS
        if (left <= 0) throw tooSlow()
        const before = taken()
        try {
          return work()
        } finally {
          const long = taken() - before - USUAL_MS
          if (long > 0) slow.of(namespace).spend(long)
        }
      }
      return shares.workFor(namespace, bounded, signal, isUrgent)
    },
  }
}

function tooSlow(): Failure {
  const message =
    'The certificates of a host that this namespace names take long to check, and its time for that is used up; Commitlet retries automatically. Certificates with usual keys (ECDSA P-256, RSA of 2,048 bits) are checked at once.'
  return new Failure('Timeout', message)
}
