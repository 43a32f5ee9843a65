import { setImmediate, setTimeout } from 'node:timers/promises'
import { makeAllowances } from '../../domain/sharing/allowances.ts'
import { unlessAborted } from '../../domain/deadline.ts'
import { Failure } from '../../domain/failure.ts'
import type { ThreadShares } from '../../domain/network/share.ts'

/** Milliseconds of the thread that a namespace may take at once: four of the slowest objects that the API server stores. */
const MOST_MS = 400
/** Milliseconds that it gets back in a second. What else an attempt does with a large object takes as much again. */
const MS_PER_SECOND = 200
/** Milliseconds after which further work waits for the next turn of the event loop. */
const TURN_MS = 10

/** What a test replaces. */
export interface ThreadClock {
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number
  /** Resolves in the next turn of the event loop. */
  readonly nextTurn: () => Promise<unknown>
  readonly pause: (milliseconds: number) => Promise<unknown>
}

const REAL: ThreadClock = {
  elapsed: () => performance.now(),
  nextTurn: () => setImmediate(),
  pause: (milliseconds) => setTimeout(milliseconds),
}

/**
 * Shares the thread that answers probes, and does everybody's work, among namespaces: work waits while its namespace has
 * taken more than its share, and for the next turn of the event loop where this one has been long. Without this, one
 * namespace with objects of 1 MiB held the thread all the time.
 */
export function shareThread({ elapsed, nextTurn, pause }: ThreadClock = REAL): ThreadShares {
  const shares = makeAllowances(MOST_MS, MS_PER_SECOND, elapsed)
  let heldInTurn = 0
  let next: Promise<void> | undefined

  async function beginTurn(): Promise<void> {
    await nextTurn()
    heldInTurn = 0
    next = undefined
  }

  function timed<T>(namespace: string, work: () => T): T {
    const began = elapsed()
    try {
      return work()
    } finally {
      const took = elapsed() - began
      heldInTurn += took
      shares.of(namespace).spend(took)
    }
  }

  return {
    isSpent: (namespace) => shares.of(namespace).left() <= 0,
    async workFor(namespace, work, signal, isUrgent = false) {
      for (;;) {
        const left = shares.of(namespace).left()
        if (left <= 0 && !isUrgent)
          await unlessAborted(pause((1 - left) * (1_000 / MS_PER_SECOND)), signal, late)
        else if (heldInTurn >= TURN_MS) await (next ??= beginTurn())
        else return timed(namespace, work)
      }
    },
  }
}

function late(cause: unknown): Failure {
  const message =
    'The attempt ran out of time while others of its namespace were prepared; Commitlet retries automatically.'
  return new Failure('Timeout', message, { cause })
}
