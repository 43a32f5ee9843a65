import { setImmediate as settled } from 'node:timers/promises'

/** A clock that goes on only where all wait. */
export interface PacedClock {
  readonly elapsed: () => number
  readonly wait: (milliseconds: number) => Promise<void>
  /** Lets the time pass, in milliseconds since the clock was made, and whoever waits go on at their time. */
  readonly goOn: (until: number) => Promise<void>
}

/** Makes one at 0. */
export function pacedClock(): PacedClock {
  let now = 0
  const waits: { readonly until: number; readonly end: () => void }[] = []
  return {
    elapsed: () => now,
    wait: (milliseconds) => new Promise((end) => waits.push({ until: now + milliseconds, end: () => end() })),
    async goOn(until) {
      await settled()
      for (;;) {
        waits.sort((one, other) => one.until - other.until)
        const [next] = waits
        if (next === undefined || next.until > until) break
        waits.shift()
        now = Math.max(now, next.until)
        next.end()
        await settled()
      }
      now = until
    },
  }
}
