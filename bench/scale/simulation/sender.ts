import { shareOf, SINK_LIMITS } from '../../../webhook/delivery/sink-limits.ts'
import type { Clock } from './clock.ts'
import type { Commit } from './world.ts'

/** Where events go: calls `answered` when the receiver has answered. */
export type Send = (commit: Commit, answered: () => void) => void

const shareOfOne = shareOf(SINK_LIMITS)

/**
 * A replica of the webhook, as webhook/delivery/sink-limits.ts: so many events in flight in all and of one namespace, and the
 * next is of the namespace with the fewest. After `slotMs` an event does not count any more.
 */
export function makeSender(clock: Clock, send: Send): (commit: Commit) => void {
  const waiting = new Map<string, Commit[]>()
  const flying = new Map<string, number>()
  let inFlight = 0

  function count(namespace: string, step: 1 | -1): void {
    inFlight += step
    flying.set(namespace, (flying.get(namespace) ?? 0) + step)
  }

  function next(): string | undefined {
    const share = shareOfOne(inFlight, 0)
    let fewest: string | undefined
    for (const namespace of waiting.keys())
      if (fewest === undefined || (flying.get(namespace) ?? 0) < (flying.get(fewest) ?? 0)) fewest = namespace
    return fewest === undefined || (flying.get(fewest) ?? 0) >= share ? undefined : fewest
  }

  function sendWaiting(): void {
    while (inFlight < SINK_LIMITS.inFlight) {
      const namespace = next()
      const queue = namespace === undefined ? undefined : waiting.get(namespace)
      const commit = queue?.shift()
      if (namespace === undefined || commit === undefined) return
      if (queue?.length === 0) waiting.delete(namespace)
      sendNow(commit)
    }
  }

  function sendNow(commit: Commit): void {
    const { namespace } = commit
    count(namespace, 1)
    let isHeld = true
    function release(): void {
      if (!isHeld) return
      isHeld = false
      count(namespace, -1)
      sendWaiting()
    }
    clock.after(SINK_LIMITS.slotMs, release)
    send(commit, release)
  }

  return function add(commit) {
    const queue = waiting.get(commit.namespace) ?? []
    queue.push(commit)
    waiting.set(commit.namespace, queue)
    sendWaiting()
  }
}
