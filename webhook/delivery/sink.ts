import type { Logger } from 'pino'
import type { AppliedEvent } from '../../functions/domain/event/applied-event.ts'
import type { ObjectRef } from '../../functions/domain/resource/resource.ts'
import { errorLogFields, reasonOf } from '../../functions/domain/error-log-fields.ts'
import type { DeliveryTimes, SinkTarget } from './delivery.ts'
import { makeDelivery } from './delivery.ts'
import { makeFairQueue, resourceKey } from './fair-queue.ts'

/** Sends events. A lost event delays a commit but never loses it: the sweeps find its resource. */
export interface Sink {
  /** Queues the event for sending. Returns false if there was no room and the event was dropped. */
  readonly send: (event: AppliedEvent) => boolean
  /** Whether an event of this resource is waiting, or was sent recently and has no response yet. */
  readonly isUnderway: (ref: ObjectRef) => boolean
  /** Accepts no more events and waits for those in flight or queued until the deadline; then aborts the rest. */
  readonly drain: (deadlineMs: number) => Promise<void>
}

/** Limits of the sink: numbers of events and times. */
export interface SinkLimits extends DeliveryTimes {
  readonly inFlight: number
  /** Most events of one namespace in flight, so that requests that hang leave room for other namespaces. */
  readonly perNamespace: number
  readonly waiting: number
  /** How long an event without a response counts as in flight for the sweeps. */
  readonly trustedMs: number
}

/**
 * 256 requests of a few KiB and 10,000 waiting events of half a KiB each: a few MiB at most. The function responds when
 * the attempt is done, for which Knative allows up to 600 s: a request may take a little longer.
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

const LOG_INTERVAL_MS = 1_000

/** Opens the sink. It makes no connection before the first event. */
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
    sendWaiting()
    return dropped !== event
  }

  function sendWaiting(): void {
    while (inFlight < limits.inFlight && !closing.signal.aborted) {
      const event = waiting.take(busy, limits.perNamespace)
      if (event === undefined) break
      void sendNow(event)
    }
    if (draining && inFlight === 0) idle.resolve(undefined)
  }

  async function sendNow(event: AppliedEvent): Promise<void> {
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
    sendWaiting()
  }

  function count({ data }: AppliedEvent, step: 1 | -1): void {
    inFlight += step
    const sameNamespace = (busy.get(data.namespace) ?? 0) + step
    if (sameNamespace === 0) busy.delete(data.namespace)
    else busy.set(data.namespace, sameNamespace)
  }

  async function drain(deadlineMs: number): Promise<void> {
    draining = true
    sendWaiting()
    const timer = setTimeout(() => idle.resolve(undefined), deadlineMs)
    await idle.promise
    clearTimeout(timer)
    const lost = inFlight + waiting.size()
    closing.abort()
    if (lost > 0) log.warn({ events: lost }, 'events were not sent before the end; a sweep will find them')
  }

  function isUnderway(ref: ObjectRef): boolean {
    const key = resourceKey(ref)
    // A pod that disappears leaves its request open: after a while the sweeps may send another event.
    return waiting.has(key) || performance.now() - (sentAt.get(key) ?? -Infinity) < limits.trustedMs
  }

  return { send, isUnderway, drain }
}

/** Logs dropped events at most once a second, with their number. */
function makeDropWarning(log: Logger): () => void {
  let dropped = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  return () => {
    dropped += 1
    const now = performance.now()
    if (now - loggedAt < LOG_INTERVAL_MS) return
    log.warn({ events: dropped }, 'no room for events; a sweep will find their resources')
    dropped = 0
    loggedAt = now
  }
}
