import type { Hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Told of the work that was done, in bytes, gives the event loop a turn from time to time. Throws the signal's reason
 * once it has fired.
 */
export type Pace = (bytes: number) => Promise<void>

/** Work between two turns of the event loop: some 5 ms of inflating. */
const BYTES_PER_TURN = 1024 * 1024

/** What a small piece of work costs besides its bytes. */
const LEAST_BYTES = 4096

/** The pace of one job. */
export function createPace(signal: AbortSignal | undefined): Pace {
  let done = 0
  return async (bytes) => {
    done += bytes + LEAST_BYTES
    if (done < BYTES_PER_TURN) return
    done = 0
    signal?.throwIfAborted()
    await nextTurn()
    signal?.throwIfAborted()
  }
}

/** Hashes bytes of whatever length in pieces. */
export async function updateHash(hash: Hash, bytes: Buffer, pace: Pace): Promise<void> {
  for (let at = 0; at < bytes.length; at += BYTES_PER_TURN) {
    hash.update(bytes.subarray(at, at + BYTES_PER_TURN))
    await pace(Math.min(bytes.length - at, BYTES_PER_TURN))
  }
}
