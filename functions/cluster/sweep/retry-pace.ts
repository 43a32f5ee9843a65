import { makeAllowance } from '../../domain/sharing/allowance.ts'
import { makeAllowances } from '../../domain/sharing/allowances.ts'

/** Whether a failed attempt may be made again now, of a resource of this namespace: counts it if so. */
export type RetryPace = (namespace: string) => boolean

/** Retries of a namespace, whatever others have: so many at once, and so many in a second. */
const OWN = { most: 5, perSecond: 0.25 } as const
/** What all namespaces share beyond that: an attempt that fails at once takes a processor some 30 ms, the API server's part included. */
const SHARED = { most: 20, perSecond: 4 } as const

/**
 * The pace of retries: thousands of resources that fail at once, again and again, would otherwise take all of a processor from
 * everybody's first attempts. A namespace that is alone with them has all that is shared; first attempts, and those whose
 * function has ended, are not paced. `elapsed`: milliseconds of a clock that is never set.
 */
export function makeRetryPace(elapsed: () => number = () => performance.now()): RetryPace {
  const own = makeAllowances(OWN.most, OWN.perSecond, elapsed)
  const shared = makeAllowance(SHARED.most, SHARED.perSecond, elapsed)
  return function mayRetry(namespace) {
    const from = [own.of(namespace), shared].find((one) => one.left() >= 1)
    from?.spend(1)
    return from !== undefined
  }
}
