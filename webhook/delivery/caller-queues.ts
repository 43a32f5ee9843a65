import { callerOf, type AppliedEvent } from '../../functions/domain/event/applied-event.ts'
import { makeFairQueue, type FairQueue, type QueueLimits } from './fair-queue.ts'

/** How many events of one namespace a caller may have in flight who has so many, beside those of others. */
export type ShareOf = (own: number, others: number) => number

/**
 * Events that wait for a free connection, of all callers: whoever can reach the webhook may have a review made of any name in any
 * namespace, and its event is not about anything then. So the next event is of the caller with the fewest in flight, and of the
 * events of one caller as a FairQueue has it. If there is no room, the caller with the most waiting events loses one.
 */
export interface CallerQueues {
  /** Adds an event. Returns the event that was dropped for lack of room, if any: this one or another. */
  readonly add: (event: AppliedEvent) => AppliedEvent | undefined
  /** Whether a sweep may add an event of a resource that does not wait yet. */
  readonly hasRoom: (namespace: string) => boolean
  /** Removes and returns the next event, which is in flight from then on; none of a namespace with its share in flight. */
  readonly take: (shareOf: ShareOf) => AppliedEvent | undefined
  /** Ends the flight of this event. */
  readonly release: (event: AppliedEvent) => void
  readonly has: (key: string) => boolean
  readonly size: () => number
}

interface Called {
  readonly queue: FairQueue
  inFlight: number
}

/** Sweeps have no caller. */
const SWEEPS = ''

/** Makes queues without events. A caller without any takes no memory. */
export function makeCallerQueues(limits: QueueLimits): CallerQueues {
  const callers = new Map<string, Called>()
  let inFlight = 0

  function size(): number {
    return [...callers.values()].reduce((sum, { queue }) => sum + queue.size(), 0)
  }

  const isFull = (): boolean => size() >= limits.waiting

  function of(caller: string): Called {
    const called: Called = callers.get(caller) ?? {
      queue: makeFairQueue(limits, () => isFull() && longerThan(called) === undefined),
      inFlight: 0,
    }
    callers.set(caller, called)
    return called
  }

  function forgetIdle(caller: string, called: Called): void {
    if (called.inFlight === 0 && called.queue.size() === 0) callers.delete(caller)
  }

  /** The caller with the most waiting events, which loses one for this one, unless that would be no fairer the other way round. */
  function longerThan({ queue }: Called): Called | undefined {
    const [longest] = [...callers.values()].toSorted((one, other) => other.queue.size() - one.queue.size())
    return longest !== undefined && queue.size() + 1 < longest.queue.size() ? longest : undefined
  }

  return {
    add(event) {
      const caller = callerOf(event) ?? SWEEPS
      const called = of(caller)
      const dropped = isFull() ? longerThan(called)?.queue.drop() : undefined
      const own = called.queue.add(event)
      forgetIdle(caller, called)
      return own ?? dropped
    },
    hasRoom(namespace) {
      const called = of(SWEEPS)
      const hasRoom = called.queue.hasRoom(namespace)
      forgetIdle(SWEEPS, called)
      return hasRoom
    },
    take(shareOf) {
      const waiting = [...callers.values()].filter(({ queue }) => queue.size() > 0)
      for (const called of waiting.toSorted((one, other) => one.inFlight - other.inFlight)) {
        const event = called.queue.take(shareOf(called.inFlight, inFlight - called.inFlight))
        if (event === undefined) continue
        called.inFlight += 1
        inFlight += 1
        return event
      }
      return undefined
    },
    release(event) {
      const caller = callerOf(event) ?? SWEEPS
      const called = of(caller)
      called.inFlight -= 1
      inFlight -= 1
      called.queue.release(event.data.namespace)
      forgetIdle(caller, called)
    },
    has: (key) => [...callers.values()].some(({ queue }) => queue.has(key)),
    size,
  }
}
