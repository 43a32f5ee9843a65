import { REST_CLOCK, type RestClock } from '../cluster/calls/rest.ts'
import type { Allowance } from '../domain/sharing/allowance.ts'
import { makeAllowances } from '../domain/sharing/allowances.ts'
import { shareAllowance, spendOneOf } from '../domain/sharing/shared-allowance.ts'
import type { World } from '../world.ts'

/** The pace of a pod. */
export interface FailingPace {
  readonly inPace: World['inPace']
  /** Nobody waits any more: who did may find that the pod takes up nothing new. */
  readonly close: () => void
}

/** Attempts of a namespace that may fail, whatever others do: so many at once, and so many in a second. */
const OWN = { most: 5, perSecond: 1 } as const
/** What all namespaces share beyond that: such an attempt takes a processor some 30 ms, the API server's part included. */
const SHARED = { most: 10, perSecond: 5 } as const
/** With so many left, events are followed at once, however many come. */
const FREE = 3
/** The most that a namespace owes: more may have begun before it was known that they fail, and a resource may change meanwhile. */
const MOST_OWED = 10

/**
 * The pace of attempts that fail, first ones and those after a change of what was waited for: a tenant who changes thousands of
 * resources that fail at once, or one object for which thousands wait, would otherwise take all of the processors from the attempts
 * of others. A namespace in which little fails is never kept waiting, however much it has made, and one that is alone has all that is
 * shared. Retries whose time has come have a pace of their own (cluster/sweep/retry-pace.ts).
 */
export function paceFailing({ elapsed, wait }: RestClock = REST_CLOCK): FailingPace {
  // Of those alone in which something has failed.
  const own = makeAllowances(OWN.most, OWN.perSecond, elapsed)
  const shared = shareAllowance({ ...SHARED, elapsed, wait })

  /** One of what is left, which was spent; undefined where enough is left. */
  async function take(namespace: string): Promise<Allowance | undefined> {
    const mine = own.known(namespace)
    if (mine === undefined || mine.left() >= FREE) return undefined
    return mine.left() >= 1 ? spendOneOf(mine) : shared.spendOne(namespace, mine)
  }

  function spend(namespace: string, failures: number): void {
    const mine = own.of(namespace)
    mine.spend(Math.min(failures, mine.left() + MOST_OWED))
  }

  async function inPace<T>(namespace: string, work: (failed: () => void) => Promise<T>): Promise<T> {
    const taken = await take(namespace)
    let failures = 0
    try {
      return await work(() => void (failures += 1))
    } finally {
      if (failures === 0) taken?.spend(-1)
      const more = taken === undefined ? failures : failures - 1
      if (more > 0) spend(namespace, more)
    }
  }

  return { inPace, close: shared.close }
}
