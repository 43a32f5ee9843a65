import type { Clock } from './clock.ts'
import type { Send } from './sender.ts'
import type { Commit } from './world.ts'

/** A Kafka Broker with one Trigger. */
export interface BrokerSettings {
  readonly order: 'ordered' | 'unordered'
  readonly partitions: number
}

/** From the answer to the sender until the consumer has the event: an assumption. */
const STORE_MS = 10
/** `max.poll.records`, Kafka's default: an unordered consumer asks for more below this number in flight. */
const MOST_UNORDERED = 500

/**
 * Answers the sender as soon as the event is stored. Ordered: the next event of a partition is sent when the one before
 * it was answered, and a branch is in one partition, by `partitionkey`. Unordered: up to 500 at once.
 */
export function makeBroker(clock: Clock, { order, partitions }: BrokerSettings, send: Send): Send {
  const lanes = order === 'ordered' ? partitions : 1
  const most = order === 'ordered' ? 1 : MOST_UNORDERED
  const queues = Array.from({ length: lanes }, () => ({ waiting: [] as Commit[], inFlight: 0 }))

  function deliver(lane: (typeof queues)[number]): void {
    while (lane.inFlight < most) {
      const commit = lane.waiting.shift()
      if (commit === undefined) return
      lane.inFlight += 1
      send(commit, () => {
        lane.inFlight -= 1
        deliver(lane)
      })
    }
  }

  return function store(commit, answered) {
    clock.after(STORE_MS, () => {
      answered()
      const lane = queues[hash(commit.branch) % lanes]
      if (lane === undefined) return
      lane.waiting.push(commit)
      deliver(lane)
    })
  }
}

/** FNV-1a of 32 bits, as a stand-in for Kafka's own. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return value >>> 0
}
