import type { Logger } from 'pino'
import type { AppliedEvent } from '../../functions/domain/event/applied-event.ts'
import { resourceKey, type ObjectRef } from '../../functions/domain/resource/resource.ts'
import { errorLogFields, reasonOf } from '../../functions/domain/error-log-fields.ts'
import { NO_METER } from '../../functions/domain/telemetry/meter.ts'
import type { Meter } from '../../functions/domain/telemetry/meter.ts'
import { NO_TRACER } from '../../functions/domain/telemetry/tracer.ts'
import { makeCallerQueues } from './caller-queues.ts'
import type { Deliver, SinkTarget } from './delivery.ts'
import { makeDelivery } from './delivery.ts'
import { makeSecondSending } from './second-sending.ts'
import { shareOf, SINK_LIMITS, type SinkLimits } from './sink-limits.ts'
import { measureSink } from './sink-meter.ts'
import { traceDelivery, type Observers } from './traced-delivery.ts'

/** Sends events. A lost event delays a commit but never loses it: the sweeps find its resource. */
export interface Sink {
  /** Queues the event for sending. Returns false if there was no room and the event was dropped. */
  readonly send: (event: AppliedEvent) => boolean
  /** Whether there is room for another event of this namespace. */
  readonly hasRoom: (namespace: string) => boolean
  /** Whether an event of this resource is waiting, or was sent recently and has no response yet. */
  readonly isUnderway: (ref: ObjectRef) => boolean
  /** `dropped` is called whenever an event is dropped for lack of room. */
  readonly onDropped: (dropped: () => void) => void
  /** Accepts no more events and waits for those in flight or queued until the deadline; then aborts the rest. */
  readonly drain: (deadlineMs: number) => Promise<void>
}

const LOG_INTERVAL_MS = 1_000

/** Opens the sink. It makes no connection before the first event. */
export function openSink(
  target: SinkTarget,
  log: Logger,
  limits: SinkLimits = SINK_LIMITS,
  { meter = NO_METER, tracer = NO_TRACER }: Partial<Observers> = {},
): Sink {
  const deliver = makeDelivery(target, limits.inFlight + limits.overdue, limits)
  return makeSink(traceDelivery(deliver, tracer), log, limits, meter)
}

/** A sink that hands each event to `deliver`, within the limits. */
export function makeSink(deliver: Deliver, log: Logger, limits: SinkLimits, meter: Meter = NO_METER): Sink {
  const waiting = makeCallerQueues(limits)
  const share = shareOf(limits)
  const sentAt = new Map<string, number>()
  const open = new Set<AbortController>()
  const measured = measureSink(meter, () => open.size)
  const overdue = new Set<AbortController>()
  const idle = Promise.withResolvers<undefined>()
  const warnDropped = makeDropWarning(log)
  const again = makeSecondSending((event) => void send(event), {
    afterMs: limits.claimMs,
    most: limits.waiting,
  })
  const listeners: (() => void)[] = []
  let draining = false
  let closed = false

  function send(event: AppliedEvent): boolean {
    if (draining) return false
    const dropped = waiting.add(event)
    measured.added(event)
    if (dropped !== undefined) {
      measured.dropped(dropped)
      warnDropped()
      for (const listener of listeners) listener()
    }
    sendWaiting()
    return dropped !== event
  }

  function sendWaiting(): void {
    while (!closed) {
      const event = waiting.take(share)
      if (event === undefined) break
      void sendNow(event)
    }
    if (draining && open.size === 0) idle.resolve(undefined)
  }

  async function sendNow(event: AppliedEvent): Promise<void> {
    const key = resourceKey(event.data)
    const now = performance.now()
    const request = new AbortController()
    open.add(request)
    const ended = measured.sending(event)
    sentAt.set(key, now)
    const giveBack = holdSlot(event)
    const timer = setTimeout(() => {
      giveBack()
      overdue.add(request)
      const [oldest] = overdue
      if (overdue.size > limits.overdue) oldest?.abort()
      sendWaiting()
    }, limits.slotMs)
    const delivered = await deliver(event, request.signal).catch((error: unknown) => {
      log.warn(
        { reason: reasonOf(error), origin: errorLogFields(error), resource: event.data },
        'an event was not delivered; a sweep will find it',
      )
    })
    ended(delivered === undefined ? 'failed' : 'delivered')
    if (delivered?.broken === true) again.add(event)
    clearTimeout(timer)
    open.delete(request)
    overdue.delete(request)
    if (sentAt.get(key) === now) sentAt.delete(key)
    giveBack()
    sendWaiting()
  }

  /** Counts an event as in flight until the returned function is called for the first time. */
  function holdSlot(event: AppliedEvent): () => void {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      waiting.release(event)
    }
  }

  async function drain(deadlineMs: number): Promise<void> {
    draining = true
    sendWaiting()
    const timer = setTimeout(() => idle.resolve(undefined), deadlineMs)
    await idle.promise
    clearTimeout(timer)
    const lost = open.size + waiting.size()
    closed = true
    again.stop()
    for (const request of open) request.abort()
    if (lost > 0) log.warn({ events: lost }, 'events were not sent before the end; a sweep will find them')
  }

  function isUnderway(ref: ObjectRef): boolean {
    const key = resourceKey(ref)
    // A pod that disappears leaves its request open: after a while the sweeps may send another event.
    return waiting.has(key) || performance.now() - (sentAt.get(key) ?? -Infinity) < limits.trustedMs
  }

  const hasRoom = (namespace: string): boolean => !draining && waiting.hasRoom(namespace)
  const onDropped = (dropped: () => void): void => void listeners.push(dropped)
  return { send, hasRoom, isUnderway, onDropped, drain }
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
