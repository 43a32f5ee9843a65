import { setTimeout as wait } from 'node:timers/promises'
import { anySignal } from '../../functions/domain/deadline.ts'

/** A pause that may be ended early. */
export interface Pause {
  /**
   * Waits for so many milliseconds; where it is woken, also before it began, for `leastMs` at most; no longer once
   * `stopped` has fired. Never rejects, and does not keep the process alive.
   */
  readonly pause: (forMs: number, leastMs: number, stopped: AbortSignal) => Promise<void>
  readonly wake: () => void
}

/** Makes one that was not woken yet. */
export function makePause(): Pause {
  let woken = new AbortController()

  async function sleep(forMs: number, signal: AbortSignal): Promise<void> {
    await wait(Math.max(0, forMs), undefined, { signal, ref: false }).catch(() => undefined)
  }

  return {
    async pause(forMs, leastMs, stopped) {
      const began = performance.now()
      await sleep(forMs, anySignal([stopped, woken.signal]))
      if (woken.signal.aborted) await sleep(Math.min(forMs, leastMs) - (performance.now() - began), stopped)
      woken = new AbortController()
    },
    wake: () => woken.abort(),
  }
}
