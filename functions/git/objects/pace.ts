import type { Hash } from 'node:crypto'
import { makeRounds } from '../../domain/sharing/rounds.ts'
import { countExcess, SHORT } from '../../domain/sharing/taken-time.ts'

/**
 * Told of the work that was done, in bytes, gives the event loop a turn from time to time. Throws the signal's reason
 * once it has fired.
 */
export type Pace = (bytes: number) => Promise<void>

/** Work between two turns of the event loop: some 5 ms of inflating. */
const BYTES_PER_TURN = 1024 * 1024

/** What a small piece of work costs besides its bytes. */
const LEAST_BYTES = 4096

/**
 * The pace of one job. However many jobs there are, one of them goes on in a turn of the event loop, so that they do not
 * hold it together; the next one is of the `owner`, which is a namespace, who has taken the least lately, and among equals of
 * another one than the last.
 */
export function createPace(signal: AbortSignal | undefined, owner = ''): Pace {
  let done = 0
  return async (bytes) => {
    done += bytes + LEAST_BYTES
    if (done < BYTES_PER_TURN) return
    done = 0
    await takeTurn(owner, signal)
  }
}

/** Waits for a turn of the event loop in which no other job of any session goes on. */
export async function takeTurn(owner: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  await turnOf(owner)
  signal?.throwIfAborted()
}

/** What owners have taken with their pieces. */
const taken = countExcess(SHORT, () => performance.now())
/** Jobs that wait for their turn, by their owners. */
const waiting = makeRounds<Job>(taken.rankOf)
let isGoing = false

interface Job {
  readonly owner: string
  readonly goOn: () => void
}

/**
 * Of those for several owners, the thread rests after each for as long as it took, and no longer than that, in milliseconds,
 * unless the next one is of an owner who has taken little.
 */
const LONGEST_REST_MS = 20

function turnOf(owner: string): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  waiting.add(owner, { owner, goOn: () => resolve(undefined) })
  if (!isGoing) setImmediate(startNext)
  isGoing = true
  return promise
}

function startNext(): void {
  const job = waiting.next()
  isGoing = job !== undefined
  if (job === undefined) return
  const began = performance.now()
  job.goOn()
  // Once all has been done that waits for nothing outside.
  queueMicrotask(() => process.nextTick(() => endPiece(job, performance.now() - began)))
}

/** What many hosts send may be read at once, and each step of whatever else there is to do would wait for one of theirs. */
function endPiece({ owner }: Job, took: number): void {
  taken.add(owner, took)
  const next = waiting.nextOwner()
  const hasTakenMuch = next !== undefined && taken.rankOf(next) > 0
  if (hasTakenMuch && waiting.owners() > 1) setTimeout(startNext, Math.min(took, LONGEST_REST_MS))
  else setImmediate(startNext)
}

/** Hashes bytes of whatever length in pieces. What has none is one: a pack may have 65,536 such objects. */
export async function updateHash(hash: Hash, bytes: Buffer, pace: Pace): Promise<void> {
  for (let at = 0; at === 0 || at < bytes.length; at += BYTES_PER_TURN) {
    hash.update(bytes.subarray(at, at + BYTES_PER_TURN))
    await pace(Math.min(bytes.length - at, BYTES_PER_TURN))
  }
}
