import type { Logger } from 'pino'
import { errorLogFields } from '../domain/error-log-fields.ts'
import { Failure } from '../domain/failure.ts'
import type { Release } from '../domain/network/budget.ts'
import type { ObjectRef } from '../domain/resource/resource.ts'
import type { Sender } from '../event-places.ts'

/** Handles one event; throws only if nothing could be written. */
export type Handle = (ref: ObjectRef, sender: Sender) => Promise<void>

/** The events in hand, also those whose request has been answered. */
export interface InHand {
  /** Handles an event that has a place, and leaves that at the end. False if nothing could be written, which is logged. */
  readonly handle: (ref: ObjectRef, sender: Sender, leave: Release) => Promise<boolean>
  /** Counts this as in hand, such as a search that will find more; returns it. It does not throw. */
  readonly keep: (work: Promise<boolean>) => Promise<boolean>
  /** Resolves once nothing is in hand. */
  readonly idle: () => Promise<void>
}

/** Begins with nothing in hand. */
export function openInHand(handle: Handle, log: Logger): InHand {
  const running = new Set<Promise<boolean>>()

  async function run(ref: ObjectRef, sender: Sender): Promise<boolean> {
    try {
      await handle(ref, sender)
      return true
    } catch (error) {
      const origin = errorLogFields(error)
      if (error instanceof Failure) {
        const { reason, message: cause } = error
        log.warn({ resource: ref, reason, cause, origin }, 'nothing could be written')
      } else log.error({ origin }, 'event could not be handled')
      return false
    }
  }

  async function keep(work: Promise<boolean>): Promise<boolean> {
    running.add(work)
    try {
      return await work
    } finally {
      running.delete(work)
    }
  }

  return {
    handle: (ref, sender, leave) => keep(run(ref, sender)).finally(leave),
    keep,
    async idle() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
