import type { Release } from '../network/budget.ts'

/** Places of which nobody gets more than are free. */
export interface FairPlaces {
  readonly hasRoom: () => boolean
  /**
   * Takes a place, or so many at once; undefined where the owner would hold more than are free. Several owners: such as an
   * address, and a namespace that it names; together they hold no more than are free.
   */
  readonly enter: (owner: string | readonly string[], count?: number) => Release | undefined
}

/**
 * Shares `most` places among owners who are not known before: an owner alone gets half of them, two get a third each, and
 * something is always left for the next one (Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory
 * Packet Switches", 1998). Of an owner among others of the same address, one alone gets a third. Owners without a place
 * take no memory.
 */
export function openFairPlaces(most: number): FairPlaces {
  const held = new Map<string, number>()
  let taken = 0

  function move(owners: readonly string[], step: number): void {
    taken += step
    for (const owner of owners) {
      const count = heldBy(owner) + step
      if (count === 0) held.delete(owner)
      else held.set(owner, count)
    }
  }

  function heldBy(owner: string): number {
    return held.get(owner) ?? 0
  }

  return {
    hasRoom: () => taken < most,
    enter(owner, count = 1) {
      const owners = typeof owner === 'string' ? [owner] : owner
      const theirs = owners.reduce((sum, one) => sum + heldBy(one), count)
      if (theirs > most - taken) return undefined
      move(owners, count)
      let isHeld = true
      return () => {
        if (isHeld) move(owners, -count)
        isHeld = false
      }
    },
  }
}
