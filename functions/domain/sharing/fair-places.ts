import type { Release } from '../network/budget.ts'

/** Places of which nobody gets more than are free. */
export interface FairPlaces {
  readonly hasRoom: () => boolean
  /** Takes a place, or so many at once; undefined where the owner would hold more than are free. */
  readonly enter: (owner: string, count?: number) => Release | undefined
}

/**
 * Shares `most` places among owners who are not known before: an owner alone gets half of them, two get a third each, and
 * something is always left for the next one (Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory
 * Packet Switches", 1998). Owners without a place take no memory.
 */
export function openFairPlaces(most: number): FairPlaces {
  const held = new Map<string, number>()
  let taken = 0

  function move(owner: string, step: number): void {
    taken += step
    const count = (held.get(owner) ?? 0) + step
    if (count === 0) held.delete(owner)
    else held.set(owner, count)
  }

  return {
    hasRoom: () => taken < most,
    enter(owner, count = 1) {
      if ((held.get(owner) ?? 0) + count > most - taken) return undefined
      move(owner, count)
      let isHeld = true
      return () => {
        if (isHeld) move(owner, -count)
        isHeld = false
      }
    },
  }
}
