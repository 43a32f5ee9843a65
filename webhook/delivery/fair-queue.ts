import type { AppliedEvent } from '../../functions/domain/event/applied-event.ts'

/**
 * Events that wait for a free connection, bounded and fair. The next event is of the namespace with the fewest in flight.
 * If the queue is full, the namespace with the most waiting events loses one, so that no tenant blocks the others. Only
 * one event of a resource waits: a newer event replaces it.
 */
export interface FairQueue {
  /** Adds an event. Returns the event that was dropped for lack of room, if any: this one or another. */
  readonly add: (event: AppliedEvent) => AppliedEvent | undefined
  /** Removes and returns the next event. `inFlight` counts events by namespace; `share` limits each namespace. */
  readonly take: (inFlight: ReadonlyMap<string, number>, share?: number) => AppliedEvent | undefined
  readonly has: (key: string) => boolean
  readonly size: () => number
}

type Queue = Map<string, AppliedEvent>

/** Identifies the resource of an event: equal for all events of the resource. */
export function resourceKey(ref: {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}): string {
  return `${ref.kind} ${ref.namespace}/${ref.name}`
}

/** Makes an empty queue for at most `limit` events. */
export function makeFairQueue(limit: number): FairQueue {
  const queues = new Map<string, Queue>()
  let size = 0

  function add(event: AppliedEvent): AppliedEvent | undefined {
    const { namespace } = event.data
    const key = resourceKey(event.data)
    const queue: Queue = queues.get(namespace) ?? new Map<string, AppliedEvent>()
    const isQueued = queue.has(key)
    const isFull = !isQueued && size >= limit
    const longest = isFull ? longestOf(queues.values()) : undefined
    if (isFull && (longest === undefined || longest.size <= queue.size)) return event
    queue.set(key, event)
    queues.set(namespace, queue)
    if (!isQueued) size += 1
    return longest === undefined ? undefined : takeFirst(longest)
  }

  function take(inFlight: ReadonlyMap<string, number>, share = Infinity): AppliedEvent | undefined {
    const next = leastBusy(queues.keys(), inFlight, share)
    const queue = next === undefined ? undefined : queues.get(next)
    if (next === undefined || queue === undefined) return undefined
    const event = takeFirst(queue)
    // Moved to the end, so that equally busy namespaces alternate.
    queues.delete(next)
    if (queue.size > 0) queues.set(next, queue)
    return event
  }

  function takeFirst(queue: Queue): AppliedEvent | undefined {
    const [first] = queue
    if (first === undefined) return undefined
    queue.delete(first[0])
    size -= 1
    return first[1]
  }

  function has(key: string): boolean {
    const namespace = key.slice(key.indexOf(' ') + 1, key.indexOf('/'))
    return queues.get(namespace)?.has(key) === true
  }

  return { add, take, has, size: () => size }
}

function longestOf(queues: Iterable<Queue>): Queue | undefined {
  let longest: Queue | undefined
  for (const queue of queues) if (queue.size > (longest?.size ?? 0)) longest = queue
  return longest
}

function leastBusy(
  namespaces: Iterable<string>,
  inFlight: ReadonlyMap<string, number>,
  share: number,
): string | undefined {
  let least: string | undefined
  let fewest = share
  for (const namespace of namespaces) {
    const busy = inFlight.get(namespace) ?? 0
    if (busy < fewest) [least, fewest] = [namespace, busy]
  }
  return least
}
