/** Pauses before the looks at one object, in milliseconds; the last one stays. */
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

/** What was asked for has the first queue, and each pause has one: so each is in the order in which it becomes due. */
type Queue<L> = Map<L, number>

interface Place<L> {
  /** Of the pauses, the next one. */
  pause: number
  lookedAt: number
  asked: boolean
  /** Undefined while it is taken. */
  queue: Queue<L> | undefined
}

/**
 * Makes an empty schedule. Owners take turns, and of one owner the shorter pauses come first, so that what was added lately
 * is not behind a backlog. `now` is in milliseconds.
 */
export function makeSchedule<L extends Looked>(now: () => number): Schedule<L> {
  const owners = new Map<string, readonly Queue<L>[]>()
  const places = new Map<L, Place<L>>()

  function queuesOf(owner: string): readonly Queue<L>[] {
    const queues = owners.get(owner) ?? [0, ...PAUSES_MS].map(() => new Map<L, number>())
    owners.set(owner, queues)
    return queues
  }

  function enqueue(looked: L, place: Place<L>): void {
    const { asked, pause, lookedAt } = place
    const queue = queuesOf(looked.owner)[asked ? 0 : pause + 1]
    if (queue === undefined) return
    const wait = asked ? LEAST_PAUSE_MS : (PAUSES_MS[pause] ?? LEAST_PAUSE_MS)
    queue.set(looked, lookedAt + wait)
    place.queue = queue
  }

  function dequeue(looked: L, place: Place<L>): void {
    place.queue?.delete(looked)
    place.queue = undefined
    if (queuesOf(looked.owner).every(({ size }) => size === 0)) owners.delete(looked.owner)
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
      const place = { pause: 0, lookedAt: isNow ? -Infinity : now(), asked: isNow, queue: undefined }
      places.set(looked, place)
      enqueue(looked, place)
    },
    ask(looked) {
      const place = places.get(looked)
      if (place === undefined || place.asked) return
      place.asked = true
      // One that is taken is put back soon.
      if (place.queue === undefined) return
      dequeue(looked, place)
      enqueue(looked, place)
    },
    take(mayHave) {
      for (const [owner, queues] of owners) {
        if (!mayHave(owner)) continue
        const looked = dueIn(queues)
        const place = looked && places.get(looked)
        if (looked === undefined || place === undefined) continue
        // Behind the other owners.
        owners.delete(owner)
        owners.set(owner, queues)
        dequeue(looked, place)
        place.asked = false
        return looked
      }
      return undefined
    },
    putBack(looked) {
      const place = places.get(looked)
      if (place === undefined) return
      const isFirst = place.lookedAt === -Infinity
      place.lookedAt = now()
      if (!isFirst) place.pause = Math.min(place.pause + 1, PAUSES_MS.length - 1)
      enqueue(looked, place)
    },
    remove(looked) {
      const place = places.get(looked)
      if (place !== undefined) dequeue(looked, place)
      places.delete(looked)
    },
    isEmpty: () => places.size === 0,
  }
}
