import { LRUCache } from 'lru-cache'
import { countExcess, LONG } from '../../domain/sharing/taken-time.ts'
import { openFairTurns, type FairTurns } from '../../fair-turns.ts'

/** Bytes that an object may have to be read beside any others; what one takes then is in attempt/turns/cost.ts. */
export const LARGE = 1.5 * 1024 * 1024
/** Objects of more bytes that are in memory as text at once, in all of the pod. */
const AT_ONCE = 4
/** How long one is in memory while others wait: its namespace may have used up its share of the thread for as long as it likes. */
const LONGEST_MS = 5_000
/** How many are remembered, and for how long. */
const MOST_REMEMBERED = 1_000
const REMEMBERED_MS = 10 * 60_000

/** The objects of a pod that take more memory than others while they are read. */
export interface LargeObjects {
  /** Whether the object was large lately. */
  readonly has: (object: string) => boolean
  readonly add: (object: string) => void
  /** Reads one, and makes its files, when it may be in memory. Once the signal that the work gets has fired, nothing of it is kept. */
  readonly inTurn: FairTurns
}

/**
 * Shares the memory of large objects among namespaces: next is the one that has held it for the least time, and one that holds it for
 * long while others wait has to end. The API server
 * stores some kinds in another form than it sends: 1 MiB of control characters are 6 MiB as JSON, and 12 MiB as text if a letter
 * of another alphabet is among them. `elapsed`: milliseconds of a clock that is never set.
 */
export function openLargeObjects(elapsed: () => number): LargeObjects {
  const known = new LRUCache<string, true>({
    max: MOST_REMEMBERED,
    ttl: REMEMBERED_MS,
    ttlResolution: 0,
    perf: { now: elapsed },
  })
  return {
    has: (object) => known.has(object),
    add: (object) => void known.set(object, true),
    inTurn: openFairTurns(LONGEST_MS, elapsed, countExcess(LONG, elapsed), AT_ONCE),
  }
}
