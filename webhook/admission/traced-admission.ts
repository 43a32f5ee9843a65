import { resourceAttributes } from '../../functions/domain/telemetry/spans.ts'
import type { TraceContext } from '../../functions/domain/telemetry/trace-context.ts'
import { inSpan, type Span, type Tracer } from '../../functions/domain/telemetry/tracer.ts'
import type { Admission } from './admission.ts'
import type { AdmissionRequest } from './review.ts'

/** Which of the two decides, and the span of the API server, if it has one. */
export interface Deciding {
  readonly webhook: string
  readonly caller: TraceContext | undefined
}

/**
 * Begins the span of a decision, in a trace of its own. The API server hands on the `traceparent` of its users where it does
 * not trace itself, so the span of the caller is only named.
 */
export function admissionSpan(
  tracer: Tracer,
  request: AdmissionRequest,
  { webhook, caller }: Deciding,
): Span {
  return tracer.begin('admission', {
    link: caller,
    attributes: { 'commitlet.webhook': webhook, ...resourceAttributes(request) },
  })
}

/** The same, with its calls as children of the span. */
export function traceAdmission(admission: Admission, span: Span): Admission {
  if (!span.recording) return admission
  const { cluster } = admission
  return {
    ...admission,
    cluster: {
      discover: (...of) => inSpan(span, 'discover', () => cluster.discover(...of)),
      reviewAccess: (...of) => inSpan(span, 'review access', () => cluster.reviewAccess(...of)),
      readSecret: (...of) => inSpan(span, 'read Secret', () => cluster.readSecret(...of)),
    },
  }
}
