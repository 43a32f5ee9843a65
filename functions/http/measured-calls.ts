import { FUNCTION_METRICS } from '../domain/telemetry/function-metrics.ts'
import type { Meter } from '../domain/telemetry/meter.ts'
import { codeLabel } from '../domain/telemetry/program-metrics.ts'
import { NO_SPAN, type Span } from '../domain/telemetry/tracer.ts'
import type { EndedCall } from './http.ts'

/** What is told of each call to the API of a provider: measures it, and adds it to the span. */
export function measureCalls(
  provider: string,
  meter: Meter,
  span: Span = NO_SPAN,
): (ended: EndedCall) => void {
  return function called({ method, status, seconds, sent, received }) {
    const upper = method.toUpperCase()
    span.past('call API', seconds, {
      'commitlet.provider': provider,
      'http.request.method': upper,
      ...(status === undefined ? {} : { 'http.response.status_code': status }),
    })
    meter.record(FUNCTION_METRICS.apiDuration, seconds, { provider, method: upper, code: codeLabel(status) })
    meter.record(FUNCTION_METRICS.apiBytes, sent, { provider, direction: 'sent' })
    meter.record(FUNCTION_METRICS.apiBytes, received, { provider, direction: 'received' })
  }
}
