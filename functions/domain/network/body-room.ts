/** Maximum bytes of request bodies in memory at once, which leaves enough of the memory limit for everything else. */
export const BODIES_LIMIT = 64 * 1024 * 1024

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
 * within milliseconds, and a sender that never ends cannot keep others out.
 */
export function openBodyRoom(most = BODIES_LIMIT): () => BodyPlace {
  const incomplete = new Map<BodyPlace, () => void>()
  let taken = 0
  let kept = 0

  function makeRoom(bytes: number, place: BodyPlace): boolean {
    for (const [oldest, giveUp] of incomplete) {
      if (taken + bytes <= most || oldest === place) break
      giveUp()
    }
    return taken + bytes <= most
  }

  return function enter() {
    let own = 0
    let isComplete = false
    const place: BodyPlace = {
      take(bytes, giveUp) {
        incomplete.set(place, giveUp)
        if (kept + own + bytes > most || !makeRoom(bytes, place)) return false
        own += bytes
        taken += bytes
        return true
      },
      complete() {
        incomplete.delete(place)
        isComplete = true
        kept += own
      },
      leave() {
        incomplete.delete(place)
        taken -= own
        if (isComplete) kept -= own
        own = 0
      },
    }
    return place
  }
}
