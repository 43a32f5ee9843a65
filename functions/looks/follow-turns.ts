import { REST_CLOCK, type RestClock } from '../cluster/calls/rest.ts'
import type { Allowance } from '../domain/sharing/allowance.ts'
import { makeAllowances } from '../domain/sharing/allowances.ts'
import { makeKeyedSemaphore } from '../domain/sharing/semaphores/keyed-semaphore.ts'
import { shareAllowance, spendOneOf } from '../domain/sharing/shared-allowance.ts'
import type { World } from '../world.ts'

/** Followers of one namespace that are read and looked at at once: a spec may have 350 KB, and takes twice that in memory. */
const MOST_FOLLOWERS = 8
/** Attempts of followers of a namespace, whatever others do: so many at once, and so many in a second. */
const OWN = { most: 30, perSecond: 0.5 } as const
/** What all namespaces share beyond that: an attempt that commits takes some 50 ms of a processor, the API server's part included. */
const SHARED = { most: 60, perSecond: 5 } as const

/** The turns of a pod. */
export interface FollowTurns {
  readonly turnToFollow: World['turnToFollow']
  /** Nobody waits for the pace any more. */
  readonly close: () => void
}

/**
 * Lets followers of one namespace take turns, in a pace: one change of an object may have thousands of followers attempted, and each
 * attempt costs the API server and the Git server as much as if it were applied. One that has not changed takes nothing of the pace,
 * and a resource that waits for its turn waits once, however many events name it.
 */
export function takeTurnsToFollow({ elapsed, wait }: RestClock = REST_CLOCK): FollowTurns {
  const own = makeAllowances(OWN.most, OWN.perSecond, elapsed)
  const shared = shareAllowance({ ...SHARED, elapsed, wait })
  const inTurn = makeKeyedSemaphore(MOST_FOLLOWERS)
  const waiting = new Map<string, Promise<unknown>>()

  /** Gives back what was spent for one that is not due. */
  async function lookFor<T>(
    spent: Allowance | undefined,
    look: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    let due: T | undefined
    try {
      due = await look()
      return due
    } finally {
      if (due === undefined) spent?.spend(-1)
    }
  }

  const turnToFollow: World['turnToFollow'] = ({ namespace, uid }, look) => {
    const before = waiting.get(uid)
    // It sees what this event is about.
    if (before !== undefined) return before.then(() => undefined)
    const state = { isWaiting: true }
    const turn = inTurn(namespace, async () => {
      const mine = own.of(namespace)
      const spent = mine.left() >= 1 ? spendOneOf(mine) : await shared.spendOne(namespace, mine)
      state.isWaiting = false
      waiting.delete(uid)
      return lookFor(spent, look)
    })
    if (state.isWaiting) waiting.set(uid, turn)
    return turn
  }

  return { turnToFollow, close: shared.close }
}
