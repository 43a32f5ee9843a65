import type { Release } from '../network/budget.ts'

/** Places of which nobody gets more than are free. */
export interface FairPlaces {
  readonly hasRoom: () => boolean
  /**
   * Takes a place, or so many at once; undefined where the owner would hold more than are free. Two owners: such as an address, and
   * a namespace that it names, which has a share of what the address may hold. Of that it gets so many at once only where it would
   * get them one after the other.
   */
  readonly enter: (owner: string | readonly [string, string?], count?: number) => Release | undefined
}

/** What is kept for owners with few places: where each takes half of what is left, ten leave next to nothing. */
const OF_FEW = 1 / 8
/** Of the part of an address, half is for namespaces there with few places: a 24th of it each. */
const THERE: Few = { few: 1 / 24, ofFew: 1 / 2 }
/** Of what is free, so much is for those at an address with few places, where the address holds about as much as is free or more. */
const OF_NEWCOMERS = 1 / 8
const NEWCOMERS: Few = { few: 1 / 16, ofFew: 1 }

/**
 * Shares `most` places among owners who are not known before: an owner alone gets half of them, two get a third each, and
 * something is always left for the next one (Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory
 * Packet Switches", 1998). With `few`, the last eighth is for owners who hold no more than so many.
 *
 * What an address may hold is shared among its namespaces by the same rule: one alone gets a quarter of all places. Half of it is for
 * those with a 24th at most, so that ten, whatever they take, leave some of these to the next ones. What others take meanwhile may leave
 * an address less than it holds: then those there with few places share a part of what is free. Owners without a place take no memory.
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
  function holdersOf([all, own]: readonly [string, string?], count: number): readonly string[] | undefined {
    const free = most - taken
    const theirs = heldBy(all)
    const isShareOfAll = isWithin(theirs + count, { free, rest: free - count, few, ofFew: most * OF_FEW })
    if (own === undefined) return isShareOfAll ? [all] : undefined
    const hasShare = (part: Part): boolean => isWithin(heldBy(own) + count, shareAfter(count, part))
    const [left, ofNewcomers] = [(free - theirs) / 2, free * OF_NEWCOMERS]
    if (isShareOfAll && left >= ofNewcomers / 2)
      return hasShare({ ...THERE, all: theirs + left, left }) ? [all, own] : undefined
    const newcomers = `newcomers of ${all}`
    const part = { ...NEWCOMERS, all: ofNewcomers, left: ofNewcomers - heldBy(newcomers) }
    return hasShare(part) ? [all, own, newcomers] : undefined
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

/** What counts as few places, and how much is for owners with few. */
interface Few {
  readonly few: number
  readonly ofFew: number
}

/** What an owner may hold, and what is left to the others then. */
interface Share extends Few {
  readonly free: number
  readonly rest: number
}

/** A part of all places that namespaces share; `few` and `ofFew` are parts of it. */
interface Part extends Few {
  readonly all: number
  readonly left: number
}

function isWithin(theirs: number, { free, rest, few, ofFew }: Share): boolean {
  return theirs <= free && (theirs <= few || rest >= ofFew)
}

/** The share of a namespace that takes `count`: the last of them is there only if the others are taken. */
function shareAfter(count: number, { all, left, few, ofFew }: Part): Share {
  const rest = left - count
  return { free: rest + 1, rest, few: Math.max(1, all * few), ofFew: all * ofFew }
}
