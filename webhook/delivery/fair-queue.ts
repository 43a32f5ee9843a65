import type { AppliedEvent } from '../../functions/domain/event/applied-event.ts'
import { resourceKey } from '../../functions/domain/resource/resource.ts'
import { makeRanks } from './ranks.ts'

/**
 * Events that wait for a free connection, bounded and fair. The next event is of the namespace with the fewest in flight.
 * If the queue is full, the namespace with the most waiting events loses one, so that no tenant blocks the others. Only
 * one event of a resource waits: a newer event replaces it. The time of a call does not grow with the number of events
 * or namespaces.
 */
export interface FairQueue {
  /** Adds an event. Returns the event that was dropped for lack of room, if any: this one or another. */
  readonly add: (event: AppliedEvent) => AppliedEvent | undefined
  /** Whether a sweep may add an event of a resource that does not wait yet. */
  readonly hasRoom: (namespace: string) => boolean
  /** Removes and returns the next event, which is in flight from then on; none of a namespace with `share` in flight. */
  readonly take: (share?: number) => AppliedEvent | undefined
  /** Ends the flight of one event of the namespace. */
  readonly release: (namespace: string) => void
  readonly has: (key: string) => boolean
  readonly size: () => number
  /** Removes and returns an event of the namespace with the most waiting ones; undefined if none waits. */
  readonly drop: () => AppliedEvent | undefined
}

/** Numbers of waiting events: in all, of one namespace, and of one namespace where a sweep adds them. */
export interface QueueLimits {
  readonly waiting: number
  readonly waitingPerNamespace: number
  readonly sweptPerNamespace: number
}

type Queue = Map<string, AppliedEvent>

/**
 * Makes an empty queue. `isFullWith`: whether there is no room for another event, with those of other queues; default: where so
 * many wait in this one.
 */
export function makeFairQueue(limits: QueueLimits, isFullWith?: () => boolean): FairQueue {
  const queues = new Map<string, Queue>()
  const inFlight = new Map<string, number>()
  const lengths = makeRanks()
  const busy = makeRanks()
  let size = 0
  const isFull = isFullWith ?? ((): boolean => size >= limits.waiting)

  function add(event: AppliedEvent): AppliedEvent | undefined {
    const { namespace } = event.data
    const key = resourceKey(event.data)
    const queue: Queue = queues.get(namespace) ?? new Map<string, AppliedEvent>()
    if (queue.has(key)) {
      queue.set(key, event)
      return undefined
    }
    if (!isAccepted(namespace)) return event
    const dropped = isFull() ? drop() : undefined
    queue.set(key, event)
    queues.set(namespace, queue)
    size += 1
    lengths.move(namespace, queue.size)
    if (queue.size === 1) busy.move(namespace, inFlight.get(namespace) ?? 0)
    return dropped
  }

  function hasRoom(namespace: string): boolean {
    return isAccepted(namespace) && (queues.get(namespace)?.size ?? 0) < limits.sweptPerNamespace
  }

  function isAccepted(namespace: string): boolean {
    const length = queues.get(namespace)?.size ?? 0
    if (length >= limits.waitingPerNamespace) return false
    if (!isFull()) return true
    // One more than another namespace would be no fairer the other way round.
    return length + 1 < (queues.get(lengths.highest() ?? '')?.size ?? 0)
  }

  function drop(): AppliedEvent | undefined {
    const longest = lengths.highest()
    return longest === undefined ? undefined : takeFirst(longest)
  }

  function take(share = Infinity): AppliedEvent | undefined {
    const next = busy.lowest(share)
    const event = next === undefined ? undefined : takeFirst(next)
    if (next !== undefined) count(next, 1)
    return event
  }

  function release(namespace: string): void {
    count(namespace, -1)
  }

  function count(namespace: string, step: 1 | -1): void {
    const flying = (inFlight.get(namespace) ?? 0) + step
    if (flying === 0) inFlight.delete(namespace)
    else inFlight.set(namespace, flying)
    if (queues.has(namespace)) busy.move(namespace, flying)
  }

  function takeFirst(namespace: string): AppliedEvent | undefined {
    const queue = queues.get(namespace) ?? new Map<string, AppliedEvent>()
    const [first] = queue
    if (first === undefined) return undefined
    queue.delete(first[0])
    size -= 1
    const isLast = queue.size === 0
    lengths.move(namespace, isLast ? undefined : queue.size)
    if (isLast) {
      queues.delete(namespace)
      busy.move(namespace, undefined)
    }
    return first[1]
  }

  function has(key: string): boolean {
    const namespace = key.slice(key.indexOf(' ') + 1, key.indexOf('/'))
    return queues.get(namespace)?.has(key) === true
  }

  return { add, hasRoom, take, release, has, size: () => size, drop }
}
