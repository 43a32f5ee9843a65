import { makeAllowance, type Allowance } from '../../domain/sharing/allowance.ts'
import { makeAllowances } from '../../domain/sharing/allowances.ts'

/** Whether a failed attempt may be made again now: counts it if so. */
export interface RetryPace {
  /** Of what the namespace has, whatever others do. */
  readonly own: (namespace: string) => boolean
  /** Of what all share beyond that. */
  readonly shared: () => boolean
}

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
  return { own: (namespace) => takeOne(own.of(namespace)), shared: () => takeOne(shared) }
}

function takeOne(from: Allowance): boolean {
  const isLeft = from.left() >= 1
  if (isLeft) from.spend(1)
  return isLeft
}
