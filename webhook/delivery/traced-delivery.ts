import { TRACEPARENT } from '../../functions/domain/event/sender-signature.ts'
import { resourceAttributes } from '../../functions/domain/telemetry/spans.ts'
import { readTraceparent, traceparentOf } from '../../functions/domain/telemetry/trace-context.ts'
import type { Meter } from '../../functions/domain/telemetry/meter.ts'
import { endWith, type Tracer } from '../../functions/domain/telemetry/tracer.ts'
import type { Deliver } from './delivery.ts'

/** Who is told what becomes of events. */
export interface Observers {
  readonly meter: Meter
  readonly tracer: Tracer
}

/**
 * Delivers each event in a span of its own, which the attempt continues. An event continues the trace of its admission, the
 * second sending too; one of a sweep begins a trace.
 */
export function traceDelivery(deliver: Deliver, tracer: Tracer): Deliver {
  return function delivered(event, signal) {
    const span = tracer.begin('send event', {
      parent: readTraceparent(event.attributes[TRACEPARENT]),
      attributes: resourceAttributes(event.data),
    })
    const { context } = span
    const traced = context === undefined ? {} : { [TRACEPARENT]: traceparentOf(context) }
    const sent = { ...event, attributes: { ...event.attributes, ...traced } }
    return endWith(span, () => deliver(sent, signal))
  }
}
