import type { Place, PlacedThread, StartedThreads } from './started-threads.ts'

/** What becomes of the threads that nobody uses, while others wait. */
export interface IdleThreads {
  /** Has one of another namespace at the same server go on for this place; undefined where there is none. */
  readonly takeOver: (place: Place) => PlacedThread | undefined
  /** Ends one for each of these who wait, unless enough are about to end. */
  readonly makeRoom: (waiting: readonly Place[]) => void
  /** Ends one whose end lets this one have a thread started. */
  readonly endFor: (waiter: Place) => void
}

/** `isBelowMost`: whether the namespace of a place may have another thread. */
export function useIdleThreads(
  threads: Pick<StartedThreads, 'idle' | 'ending'>,
  isBelowMost: (place: Place) => boolean,
): IdleThreads {
  function endOneOf(idle: PlacedThread[], waiter: Place): void {
    const helps = idle.findIndex(({ namespace }) => isBelowMost(waiter) || namespace === waiter.namespace)
    if (helps >= 0) idle.splice(helps, 1)[0]?.thread.end()
  }

  return {
    takeOver(place) {
      if (!isBelowMost(place)) return undefined
      const taken = threads.idle().find(({ server }) => server === place.server)
      if (taken !== undefined) taken.namespace = place.namespace
      return taken
    },
    makeRoom(waiting) {
      const idle = [...threads.idle()]
      for (const waiter of waiting.slice(threads.ending())) endOneOf(idle, waiter)
    },
    endFor: (waiter) => endOneOf([...threads.idle()], waiter),
  }
}
