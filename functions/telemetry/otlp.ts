import { SPANS, type Attributes, type SpanKind } from '../domain/telemetry/spans.ts'
import type { EndedSpan } from './tracer.ts'

/** The numbers of `Span.SpanKind` in OTLP's trace.proto. */
const KINDS: Readonly<Record<SpanKind, number>> = {
  internal: 1,
  server: 2,
  client: 3,
  producer: 4,
  consumer: 5,
}
const STATUS_ERROR = 2

/**
 * The body of a request in OTLP's JSON encoding: an ExportTraceServiceRequest, with ids in hex and whole numbers of 64 bits
 * as text (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
 */
export function exportRequest(spans: readonly EndedSpan[], serviceName: string): string {
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: serviceName } }] }
  const scope = { name: 'commitlet' }
  return JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans: spans.map(written) }] }] })
}

function written(span: EndedSpan): Readonly<Record<string, unknown>> {
  const { traceId, spanId } = span.context
  return {
    traceId,
    spanId,
    ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: KINDS[SPANS[span.name].kind],
    startTimeUnixNano: nanoseconds(span.startMs),
    endTimeUnixNano: nanoseconds(span.endMs),
    attributes: attributesOf(span.attributes),
    ...(span.links.length === 0
      ? {}
      : { links: span.links.map((link) => ({ traceId: link.traceId, spanId: link.spanId })) }),
    status: span.failed ? { code: STATUS_ERROR } : {},
  }
}

/** Milliseconds as whole microseconds, which a number holds exactly, and three zeros. */
function nanoseconds(milliseconds: number): string {
  return `${Math.round(milliseconds * 1000)}000`
}

function attributesOf(attributes: Attributes): readonly unknown[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))
}
