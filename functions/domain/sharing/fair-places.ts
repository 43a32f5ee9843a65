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

/** Of what is free, so much is for those at an address who hold nothing, where the address holds more than is free. */
const OF_NEWCOMERS = 1 / 8
/** What is kept for owners with few places: where each takes half of what is left, ten leave next to nothing. */
const OF_FEW = 1 / 8

/**
 * Shares `most` places among owners who are not known before: an owner alone gets half of them, two get a third each, and
 * something is always left for the next one (Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory
 * Packet Switches", 1998). With `few`, the last eighth is for owners who hold no more than so many. Of an owner among others of
 * the same address, one alone gets a third. What others take meanwhile may leave an address less than it holds: who holds
 * nothing there gets something then, too. Owners without a place take no memory.
 */
export function openFairPlaces(most: number, few = Infinity): FairPlaces {
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

  /** Whom so many places would count for; undefined where they would hold too much. */
  function holdersOf(owners: readonly string[], count: number): readonly string[] | undefined {
    const free = most - taken
    const theirs = owners.reduce((sum, one) => sum + heldBy(one), count)
    const [all, own] = owners
    if (theirs <= free && (theirs <= few || free - count >= most * OF_FEW)) return owners
    if (own === undefined || heldBy(own) > 0) return undefined
    const newcomers = `newcomers of ${all}`
    return heldBy(newcomers) + count <= free * OF_NEWCOMERS ? [...owners, newcomers] : undefined
  }

  return {
    hasRoom: () => taken < most,
    enter(owner, count = 1) {
      const holders = holdersOf(typeof owner === 'string' ? [owner] : owner, count)
      if (holders === undefined) return undefined
      move(holders, count)
      let isHeld = true
      return () => {
        if (isHeld) move(holders, -count)
        isHeld = false
      }
    },
  }
}
