import t from 'tap'
import { openTracer, type EndedSpan } from '../../../functions/telemetry/tracer.ts'
import { readReview } from '../../../webhook/admission/review.ts'
import { admissionSpan } from '../../../webhook/admission/traced-admission.ts'
import { gitCommit, reviewOf } from '../stage.ts'

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', sampled: false }

t.test(
  'the span of the API server is named, and decides neither the trace nor whether it is recorded',
  async (t) => {
    const spans: EndedSpan[] = []
    const tracer = openTracer({ ended: (span) => spans.push(span) })
    const request = readReview(reviewOf(gitCommit()))
    for (const caller of [CALLER, undefined])
      admissionSpan(tracer, request, { webhook: 'mutate', caller }).end()
    t.match(spans, [
      { parentSpanId: undefined, links: [CALLER] },
      { parentSpanId: undefined, links: [] },
    ])
    for (const { context } of spans) {
      t.equal(context.sampled, true)
      t.not(context.traceId, CALLER.traceId)
    }
  },
)
