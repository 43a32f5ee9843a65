import { Failure } from '../functions/domain/failure.ts'
import type { Release } from '../functions/domain/network/budget.ts'
import { lendPlaces, type LentPlaces } from './lent-places.ts'
import { REVIEWS_LIMIT } from './bodies.ts'
import { NO_ROOM, Refusal } from './refusals.ts'

/** Most reviews in hand: each may hold calls of the API server, of which 64 run at once. */
const MOST_REVIEWS = 600
/** Most brackets and commas of all reviews that are not decided yet: about 100 MiB once they are parsed. */
const ALL_PARTS_LIMIT = 1_000_000
/** Most take less than half of it to be decided. The API server sends one that has given way again, after a second. */
const HELD_MS = 1_000

/** What one review holds until it is decided. */
export interface HeldRoom {
  /** Fires once all of it has been given to a review of another namespace: nothing is to be decided any more. */
  readonly givenUp: AbortSignal
  /** Takes so many brackets and commas. Throws the Refusal if there is no room for them. */
  readonly takeParts: (count: number) => void
  readonly leave: Release
}

/** The room for all reviews that are not decided yet. */
export interface ReviewRoom {
  readonly hasPlace: () => boolean
  /** Takes a place, and room for the body. Throws the Refusal if there is none. */
  readonly enter: (owners: readonly [string, string], bytes: number) => HeldRoom
}

/**
 * An address alone gets half of the places, of the parts and of the room for bodies, and a namespace alone at it a quarter. Dry runs
 * cost their sender nothing, and a decision may take 7.5 s: after a second, whoever holds more gives way to others.
 */
export function openReviewRoom(): ReviewRoom {
  const terms = { heldMs: HELD_MS, elapsed: () => performance.now() }
  const places = lendPlaces(MOST_REVIEWS, terms)
  const room = lendPlaces(REVIEWS_LIMIT, terms)
  const parts = lendPlaces(ALL_PARTS_LIMIT, terms)

  function enter(owners: readonly [string, string], bytes: number): HeldRoom {
    const ending = new AbortController()
    const taken: Release[] = []
    function leave(): void {
      for (const release of taken.splice(0)) release()
    }
    function giveUp(): void {
      leave()
      ending.abort(new Failure('Timeout', NO_ROOM))
    }
    function take(from: LentPlaces, count: number): void {
      const release = from.enter(owners, { count, giveUp })
      if (release === undefined) {
        leave()
        throw new Refusal(503, NO_ROOM)
      }
      taken.push(release)
    }
    take(places, 1)
    take(room, bytes)
    return { givenUp: ending.signal, takeParts: (count) => take(parts, count), leave }
  }

  return { hasPlace: places.hasRoom, enter }
}
