import { performance } from 'node:perf_hooks'

/** Milliseconds for which the thread is looked at. */
const LOOK_MS = 250
/** It is busy with less rest than this part leaves. */
const BUSY = 0.95

/** What a test replaces. */
export interface ThreadUse {
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number
  /** Milliseconds for which the event loop had something to do, or waited for a processor, since the start. */
  readonly active: () => number
}

const REAL: ThreadUse = {
  elapsed: () => performance.now(),
  active: () => performance.eventLoopUtilization().active,
}

/** Tells whether the thread that does everybody's work had no rest lately: in the last 250 ms, or since the call before. */
export function watchThread({ elapsed, active }: ThreadUse = REAL): () => boolean {
  let before = { at: elapsed(), active: active() }
  let isBusy = false
  return () => {
    const at = elapsed()
    if (at - before.at < LOOK_MS) return isBusy
    const now = { at, active: active() }
    isBusy = now.active - before.active > BUSY * (at - before.at)
    before = now
    return isBusy
  }
}
