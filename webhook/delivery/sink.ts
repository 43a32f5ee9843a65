import type { Logger } from 'pino'
import type { AppliedEvent } from '../../functions/domain/event/applied-event.ts'
import type { ObjectRef } from '../../functions/domain/resource/resource.ts'
import { errorLogFields, reasonOf } from '../../functions/domain/error-log-fields.ts'
import type { DeliveryTimes, SinkTarget } from './delivery.ts'
import { makeDelivery } from './delivery.ts'
import { makeFairQueue, resourceKey } from './fair-queue.ts'

/** Where events go. An event that is lost here costs time, never a commit: the sweeps find its resource. */
export interface Sink {
  /** Takes the event and sends it when its turn comes; false: there was no room, and it is dropped. */
  readonly send: (event: AppliedEvent) => boolean
  /** Is an event of this resource waiting, or sent a short while ago and not answered yet? */
  readonly isUnderway: (ref: ObjectRef) => boolean
  /** Takes nothing more and waits for what is under way, at most so many milliseconds; then lets go of it. */
  readonly drain: (deadlineMs: number) => Promise<void>
}

/** How much is held, and for how long. */
export interface SinkLimits extends DeliveryTimes {
  readonly inFlight: number
  /** Of `inFlight`, the most that one namespace may take: requests that hang leave room for the others. */
  readonly perNamespace: number
  readonly waiting: number
  /** For so long after it was sent an event is trusted to be on its way, although nobody answered. */
  readonly trustedMs: number
}

/**
 * 256 requests of some KiB, 10,000 waiting events of half a KiB each: some MiB at most. The function answers when
 * the attempt is done, and Knative gives it up to 600 s for that: a request may take a little longer.
 */
export const SINK_LIMITS: SinkLimits = {
  inFlight: 256,
  perNamespace: 64,
  waiting: 10_000,
  requestMs: 610_000,
  windowMs: 60_000,
  firstPauseMs: 200,
  trustedMs: 60_000,
}

const LOG_EVERY_MS = 1_000

/** Opens the sink: nothing is sent, and no connection made, before the first event. */
export function openSink(target: SinkTarget, log: Logger, limits: SinkLimits = SINK_LIMITS): Sink {
  const deliver = makeDelivery(target, limits.inFlight, limits)
  const waiting = makeFairQueue(limits.waiting)
  const busy = new Map<string, number>()
  const sentAt = new Map<string, number>()
  const closing = new AbortController()
  const idle = Promise.withResolvers<undefined>()
  const warnDropped = makeDropWarning(log)
  let inFlight = 0
  let draining = false

  function send(event: AppliedEvent): boolean {
    if (draining) return false
    const dropped = waiting.add(event)
    if (dropped !== undefined) warnDropped()
    fill()
    return dropped !== event
  }

  function fill(): void {
    while (inFlight < limits.inFlight && !closing.signal.aborted) {
      const event = waiting.take(busy, limits.perNamespace)
      if (event === undefined) break
      void carry(event)
    }
    if (draining && inFlight === 0) idle.resolve(undefined)
  }

  async function carry(event: AppliedEvent): Promise<void> {
    const key = resourceKey(event.data)
    const now = performance.now()
    count(event, 1)
    sentAt.set(key, now)
    try {
      await deliver(event, closing.signal)
    } catch (error) {
      log.warn(
        { reason: reasonOf(error), origin: errorLogFields(error), resource: event.data },
        'an event was not delivered; a sweep will find it',
      )
    }
    if (sentAt.get(key) === now) sentAt.delete(key)
    count(event, -1)
    fill()
  }

  function count({ data }: AppliedEvent, step: 1 | -1): void {
    inFlight += step
    const sameNamespace = (busy.get(data.namespace) ?? 0) + step
    if (sameNamespace === 0) busy.delete(data.namespace)
    else busy.set(data.namespace, sameNamespace)
  }

  async function drain(deadlineMs: number): Promise<void> {
    draining = true
    fill()
    const timer = setTimeout(() => idle.resolve(undefined), deadlineMs)
    await idle.promise
    clearTimeout(timer)
    const lost = inFlight + waiting.size()
    closing.abort()
    if (lost > 0) log.warn({ events: lost }, 'events were left behind at the end; a sweep will find them')
  }

  function isUnderway(ref: ObjectRef): boolean {
    const key = resourceKey(ref)
    // A pod that is gone without a word leaves its request open: after a while the sweeps may send another.
    return waiting.has(key) || performance.now() - (sentAt.get(key) ?? -Infinity) < limits.trustedMs
  }

  return { send, isUnderway, drain }
}

/** A flood of dropped events is one line of the log a second, with their number. */
function makeDropWarning(log: Logger): () => void {
  let unsaid = 0
  let saidAt = Number.NEGATIVE_INFINITY
  return () => {
    unsaid += 1
    const now = performance.now()
    if (now - saidAt < LOG_EVERY_MS) return
    log.warn({ events: unsaid }, 'no room for events; a sweep will find their resources')
    unsaid = 0
    saidAt = now
  }
}
