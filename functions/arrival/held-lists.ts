import type { Release } from '../domain/network/budget.ts'
import { openFairPlaces } from '../domain/sharing/fair-places.ts'

/** What lists name at once, each time counted: some 20 MiB where all names are as long as they may be. */
const MOST_NAMED = 40_000
/** The last eighth is for addresses with so many. */
const FEW = 1_000

/** Keeps what a list names, so many, until the result is called; undefined where it is too much beside what is kept. */
export type HoldList = (address: string | undefined, named: number) => Release | undefined

/**
 * Opens the room for lists without a signature, which are kept while they wait. An address leaves others as much as it holds, and
 * where it holds that, a small list from there still has a part: it may be that of a proxy.
 */
export function openHeldLists(): HoldList {
  const room = openFairPlaces(MOST_NAMED, FEW)
  let lists = 0
  return (address = '', named) => {
    lists += 1
    return room.enter([address, `list ${lists} of ${address}`], named)
  }
}
