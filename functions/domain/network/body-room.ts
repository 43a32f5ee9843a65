/** Maximum bytes of request bodies in memory at once, which leaves enough of the memory limit for everything else. */
export const BODIES_LIMIT = 64 * 1024 * 1024

/** Of an owner, complete bodies hold at most so many times what is free: an API server brings those of many users. */
const TIMES_FREE = 3

/** The place of one body in the room. */
export interface BodyPlace {
  /**
   * Takes `bytes` more. False if there is no room, even after the bodies that began earlier were given up. `giveUp` is
   * called once the body itself is given up for others; it has to call `leave`.
   */
  readonly take: (bytes: number, giveUp: () => void) => boolean
  /** The body is complete: it is not given up any more. */
  readonly complete: () => void
  /** Returns all its bytes; a second call does nothing. */
  readonly leave: () => void
}

/**
 * Room for the bodies of requests, `most` bytes in all. What counts is the memory that a body takes, not the length
 * that it announces. If the room is full, the incomplete body that began first is given up: an honest body is complete
 * within milliseconds, and a sender that never ends cannot keep others out. Complete bodies of one owner, such as an address,
 * hold at most three times what they leave: of one alone, three quarters of the room.
 */
export function openBodyRoom(most = BODIES_LIMIT): (owner?: string) => BodyPlace {
  const incomplete = new Map<BodyPlace, () => void>()
  const keptBy = new Map<string, number>()
  let taken = 0
  let kept = 0

  function keep(bytes: number, owner: string | undefined): void {
    kept += bytes
    if (owner === undefined) return
    const sum = (keptBy.get(owner) ?? 0) + bytes
    if (sum === 0) keptBy.delete(owner)
    else keptBy.set(owner, sum)
  }

  function makeRoom(bytes: number, place: BodyPlace): boolean {
    for (const [oldest, giveUp] of incomplete) {
      if (taken + bytes <= most || oldest === place) break
      giveUp()
    }
    return taken + bytes <= most
  }

  return function enter(owner) {
    let own = 0
    let isComplete = false
    const place: BodyPlace = {
      take(bytes, giveUp) {
        incomplete.set(place, giveUp)
        const wanted = own + bytes
        const reserved = owner === undefined ? 0 : ((keptBy.get(owner) ?? 0) + wanted) / TIMES_FREE
        if (kept + wanted + reserved > most || !makeRoom(bytes, place)) return false
        own += bytes
        taken += bytes
        return true
      },
      complete() {
        incomplete.delete(place)
        isComplete = true
        keep(own, owner)
      },
      leave() {
        incomplete.delete(place)
        taken -= own
        if (isComplete) keep(-own, owner)
        own = 0
      },
    }
    return place
  }
}
