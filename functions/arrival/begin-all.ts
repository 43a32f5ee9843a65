import type { Timing } from '../domain/incoming/timing.ts'
import type { ObjectRef } from '../domain/resource/resource.ts'

/** Begins to handle a resource. False if there is no place for it. */
export type Begin = (ref: ObjectRef) => boolean

/** While not all of them have a place, those that are left are tried again this often. */
const PAUSE_MS = 100

/** For how many milliseconds to go on, and the clock; `signal` ends it. */
export interface Patience {
  readonly forMs: number
  readonly wait: Timing['wait']
  readonly signal: AbortSignal
}

/** Begins all of them as places become free, whichever get one. Returns those that have none when the time is over. */
export async function beginAll<T = ObjectRef>(
  all: readonly T[],
  begin: (one: T) => boolean,
  { forMs, wait, signal }: Patience,
): Promise<readonly T[]> {
  let left = all.filter((one) => !begin(one))
  for (let waited = 0; left.length > 0 && waited < forMs && !signal.aborted; waited += PAUSE_MS) {
    await wait(PAUSE_MS, signal).catch(() => undefined)
    left = left.filter((one) => !begin(one))
  }
  return left
}
