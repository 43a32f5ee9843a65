import type { Logger } from 'pino'
import { errorLogFields } from '../functions/domain/error-log-fields.ts'
import { appliedEvent, calledFrom } from '../functions/domain/event/applied-event.ts'
import { NO_METER, type Meter } from '../functions/domain/telemetry/meter.ts'
import type { TraceContext } from '../functions/domain/telemetry/trace-context.ts'
import { NO_TRACER, type Tracer } from '../functions/domain/telemetry/tracer.ts'
import { isAnnounced, mutate, validate, type Admission } from './admission/admission.ts'
import type { AdmissionRequest, Verdict } from './admission/review.ts'
import type { ThreadTurns } from './admission/thread-turns.ts'
import { admissionSpan, traceAdmission } from './admission/traced-admission.ts'
import type { Sink } from './delivery/sink.ts'
import { WEBHOOK_METRICS } from './metrics.ts'

/** A decision. `caller`: the span that the API server has named, if it is known to be the API server. */
export type Decide = (request: AdmissionRequest, caller?: TraceContext) => Promise<Verdict>

/** What the HTTP server calls: the two decisions, the callback after a response, and the state of draining. */
export interface Edge {
  readonly mutate: Decide
  readonly validate: Decide
  /**
   * What is to be done once the response of /validate was sent, and never if the client closed the connection before. Keeps
   * nothing of the review, which may wait for long until its answer is taken.
   */
  readonly answered: (request: AdmissionRequest, verdict: Verdict) => (() => void) | undefined
  readonly isDraining: () => boolean
  /** In which reviews are read, too. */
  readonly inTurn: ThreadTurns
  readonly log: Logger
}

/** What an edge writes to, and the state of the webhook that it shows. */
export interface EdgeParts {
  /** Undefined: no events are sent. */
  readonly sink: Pick<Sink, 'send'> | undefined
  readonly isDraining: () => boolean
  /** Those in hand: each is added when its decision begins, and removed at its end. */
  readonly reviews: Set<AdmissionRequest>
  readonly log: Logger
  /** Creates the id of an event. */
  readonly uuid: () => string
  /** Default: nothing is measured. */
  readonly meter?: Meter
  /** Default: nothing is traced. */
  readonly tracer?: Tracer
}

/** The decisions of the admission, each measured and traced, and the event of what was admitted. */
export function edgeOf(
  admission: Admission,
  { sink, isDraining, reviews, log, uuid, meter = NO_METER, tracer = NO_TRACER }: EdgeParts,
): Edge {
  meter.follow(WEBHOOK_METRICS.reviewing, () => [{ labels: {}, value: reviews.size }])

  const contexts = new WeakMap<AdmissionRequest, TraceContext>()

  const measured =
    (webhook: string, decide: typeof mutate) =>
    async (request: AdmissionRequest, caller?: TraceContext): Promise<Verdict> => {
      reviews.add(request)
      const began = performance.now()
      const span = admissionSpan(tracer, request, { webhook, caller })
      if (span.context !== undefined) contexts.set(request, span.context)
      try {
        const verdict = await decide(request, traceAdmission(admission, span))
        const { outcome, reason } = endOf(verdict)
        const seconds = (performance.now() - began) / 1000
        meter.record(WEBHOOK_METRICS.decisionDuration, seconds, { webhook, outcome })
        span.set({
          'commitlet.outcome': outcome,
          ...(reason === undefined ? {} : { 'commitlet.reason': reason }),
        })
        if (reason !== undefined)
          meter.record(WEBHOOK_METRICS.denials, 1, { webhook, kind: request.kind, reason })
        return verdict
      } finally {
        span.end()
        reviews.delete(request)
      }
    }

  const answered: Edge['answered'] = (request, verdict) => {
    if (sink === undefined || !isAnnounced(request, verdict)) return undefined
    try {
      const { object, address = '' } = request
      const event = calledFrom(appliedEvent(object, uuid(), contexts.get(request)), address)
      return () => sink.send(event)
    } catch (error) {
      log.error(
        { origin: errorLogFields(error) },
        'the event of an admitted resource could not be sent; a sweep will find it',
      )
      return undefined
    }
  }
  return {
    mutate: measured('mutate', mutate),
    validate: measured('validate', validate),
    answered,
    isDraining,
    inTurn: admission.inTurn,
    log,
  }
}

/** How a decision ended, for metrics, and the first reason that the user is told. */
function endOf({ denial }: Verdict): { readonly outcome: string; readonly reason: string | undefined } {
  if (denial === undefined) return { outcome: 'allowed', reason: undefined }
  const outcome = denial.code === 503 ? 'undecided' : 'denied'
  return { outcome, reason: denial.details?.causes[0]?.reason ?? denial.reason }
}
