/** Pauses before the looks at one object, in milliseconds: what was added a second ago has the second one, and so on. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 10_000] as const
/** Whoever asks: no object is looked at more often. */
const LEAST_PAUSE_MS = 1_000

/** Something that is looked at from time to time. */
export interface Looked {
  /** Who it is for: owners take turns. */
  readonly owner: string
}

/** When what is looked at next. */
export interface Schedule<L extends Looked> {
  /** Adds something: for a look now, or after the first pause. */
  readonly add: (looked: L, now: boolean) => void
  /** Looks at it as soon as it may. */
  readonly ask: (looked: L) => void
  /**
   * The next one that is due, of an owner that may have one, which is out of the schedule until it is put back; undefined if
   * none is due.
   */
  readonly take: (mayHave: (owner: string) => boolean) => L | undefined
  /** Puts it back after a look. */
  readonly putBack: (looked: L) => void
  readonly remove: (looked: L) => void
  readonly isEmpty: () => boolean
}

/** Each pause has one: so each is in the order in which it becomes due, or was asked for. */
type Queue<L> = Map<L, number>

/** What is looked at for one owner. */
interface Owned<L> {
  /** All of it, and when its pause is over. */
  readonly paced: readonly Queue<L>[]
  /** What of it was asked for. */
  readonly asked: readonly Queue<L>[]
  isAskedNext: boolean
}

interface Place {
  readonly addedAt: number
  lookedAt: number
  asked: boolean
  isTaken: boolean
}

/**
 * Makes an empty schedule. Owners take turns, and of one owner the shorter pauses come first, so that what was added lately
 * is not behind a backlog. What is asked for keeps its pause, and what is due without that takes turns with it: one event may ask
 * for all that an owner has. `now` is in milliseconds.
 */
export function makeSchedule<L extends Looked>(now: () => number): Schedule<L> {
  const owners = new Map<string, Owned<L>>()
  const places = new Map<L, Place>()

  function ownedBy(owner: string): Owned<L> {
    const [paced, asked] = [makeQueues<L>(), makeQueues<L>()]
    const owned = owners.get(owner) ?? { paced, asked, isAskedNext: false }
    owners.set(owner, owned)
    return owned
  }

  function enqueue(looked: L, place: Place): void {
    const { paced, asked } = ownedBy(looked.owner)
    const pause = pauseOf(place)
    paced[pause]?.set(looked, place.lookedAt + (PAUSES_MS[pause] ?? LEAST_PAUSE_MS))
    if (place.asked) asked[pause]?.set(looked, place.lookedAt + LEAST_PAUSE_MS)
    place.isTaken = false
  }

  function dequeue(looked: L): void {
    const { paced, asked } = ownedBy(looked.owner)
    for (const queue of [...paced, ...asked]) queue.delete(looked)
    if (paced.every(({ size }) => size === 0)) owners.delete(looked.owner)
  }

  function dueIn(queues: readonly Queue<L>[]): L | undefined {
    for (const queue of queues)
      for (const [first, dueAt] of queue) {
        if (dueAt <= now()) return first
        break
      }
    return undefined
  }

  return {
    add(looked, isNow) {
      const lookedAt = isNow ? -Infinity : now()
      const place = { addedAt: now(), lookedAt, asked: isNow, isTaken: false }
      places.set(looked, place)
      enqueue(looked, place)
    },
    ask(looked) {
      const place = places.get(looked)
      if (place === undefined || place.asked) return
      place.asked = true
      // One that is taken is put back soon.
      if (!place.isTaken) enqueue(looked, place)
    },
    take(mayHave) {
      for (const [owner, owned] of owners) {
        if (!mayHave(owner)) continue
        const { paced, asked, isAskedNext } = owned
        const looked = dueIn(isAskedNext ? [...asked, ...paced] : [...paced, ...asked])
        const place = looked && places.get(looked)
        if (looked === undefined || place === undefined) continue
        // Behind the other owners.
        owners.delete(owner)
        owners.set(owner, owned)
        owned.isAskedNext = !isAskedNext
        dequeue(looked)
        Object.assign(place, { asked: false, isTaken: true })
        return looked
      }
      return undefined
    },
    putBack(looked) {
      const place = places.get(looked)
      if (place === undefined) return
      place.lookedAt = now()
      enqueue(looked, place)
    },
    remove(looked) {
      dequeue(looked)
      places.delete(looked)
    },
    isEmpty: () => places.size === 0,
  }
}

function makeQueues<L>(): readonly Queue<L>[] {
  return PAUSES_MS.map(() => new Map<L, number>())
}

/** By how long it had been there at its last look: looks that are asked for make no later pause longer. */
function pauseOf({ addedAt, lookedAt }: Place): number {
  const reached = lookedAt - addedAt + LEAST_PAUSE_MS
  return Math.max(
    0,
    PAUSES_MS.findLastIndex((pause) => pause <= reached),
  )
}
