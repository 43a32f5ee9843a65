import { unlessAborted } from '../../domain/deadline.ts'

/** Those who wait for the same. */
export interface Line {
  /** Waits to be woken, in the order of the tickets. Throws what `late` makes of the signal's reason if it fires before. */
  readonly wait: (ticket: number, signal: AbortSignal, late: (cause: unknown) => unknown) => Promise<void>
  /** Wakes who is next, and that one the one after it unless it has to wait again: otherwise all would be woken for one place. */
  readonly wakeNext: () => void
}

interface Waiter extends PromiseWithResolvers<undefined> {
  readonly ticket: number
}

/** Without anybody. */
export function openLine(): Line {
  // In the order of their tickets.
  const waiters: Waiter[] = []

  return {
    wakeNext() {
      waiters.shift()?.resolve(undefined)
    },
    async wait(ticket, signal, late) {
      const waiter = { ...Promise.withResolvers<undefined>(), ticket }
      waiters.splice(waiters.findLastIndex((other) => other.ticket < ticket) + 1, 0, waiter)
      try {
        await unlessAborted(waiter.promise, signal, late)
      } finally {
        const at = waiters.indexOf(waiter)
        if (at >= 0) waiters.splice(at, 1)
      }
    },
  }
}
