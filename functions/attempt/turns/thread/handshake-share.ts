import { Failure } from '../../../domain/failure.ts'
import type { CallShares, HandshakeShares } from '../../../domain/network/share.ts'
import { shareSlowWork, type SlowClock } from '../../../domain/sharing/slow-work.ts'

/** A piece of a usual handshake takes some 3 ms, so that no host of honest tenants needs any of this. */
const BOUNDS = { usual: 10, most: 100, perSecond: 2 }

const REAL: SlowClock = {
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
  shares: Pick<CallShares, 'callFor' | 'mustWait'>,
  clock: SlowClock = REAL,
): HandshakeShares {
  const slow = shareSlowWork(BOUNDS, clock)

  return {
    mustWait: shares.mustWait,
    withOperatorsLogin: (namespace, work, signal) => shares.callFor(namespace, work, signal, true),
    workFor(namespace, work, signal, isUrgent) {
      const bounded: typeof work = () => {
        if (slow.waitOf(namespace) > 0) throw tooSlow()
        return slow.count(namespace, work)
      }
      return shares.callFor(namespace, bounded, signal, isUrgent)
    },
  }
}

function tooSlow(): Failure {
  const message =
    'The certificates of a host that this namespace names take long to check, and its time for that is used up; Commitlet retries automatically. Certificates with usual keys (ECDSA P-256, RSA of 2,048 bits) are checked at once.'
  return new Failure('Timeout', message)
}
