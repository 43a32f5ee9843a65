import { randomBytes } from 'node:crypto'
import type { Attributes, SpanName } from '../domain/telemetry/spans.ts'
import type { TraceContext } from '../domain/telemetry/trace-context.ts'
import { errorType, NO_SPAN, type Beginning, type Span, type Tracer } from '../domain/telemetry/tracer.ts'

/** A span that is over, as it is handed on. */
export interface EndedSpan {
  readonly name: SpanName
  readonly context: TraceContext
  readonly parentSpanId: string | undefined
  /** Milliseconds since 1970, with fractions. */
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Attributes
  readonly links: readonly TraceContext[]
  readonly failed: boolean
}

/** Decides whether a trace is recorded, from its id and from what was decided before, if anything was. */
export type Sampler = (traceId: string, parent: boolean | undefined) => boolean

/** The default of OpenTelemetry, `parentbased_always_on`. */
export const SAMPLE_ALL: Sampler = (_traceId, parent) => parent ?? true

export interface TracerOptions {
  readonly sampler?: Sampler | undefined
  /** Told of each span that was recorded, when it has ended; default: none is recorded, but all have their ids. */
  readonly ended?: ((span: EndedSpan) => void) | undefined
}

/** As in the SDKs of OpenTelemetry, and fewer: a session has at most 500 changes. */
const MOST_LINKS = 32

/** By one clock for a whole trace in this process: setting the machine's clock does not reorder its spans. */
interface Clock {
  readonly now: () => number
}

/**
 * Makes spans. Ids are random, also without a reader: log lines have them. Only spans of a trace that is sampled are
 * recorded, and only where they are read.
 */
export function openTracer({ sampler = SAMPLE_ALL, ended }: TracerOptions = {}): Tracer {
  function begin(name: SpanName, beginning: Beginning = {}): Span {
    const { parent, link, secondsAgo = 0, attributes = {} } = beginning
    const traceId = parent?.traceId ?? hex(16)
    const context = { traceId, spanId: hex(8), sampled: sampler(traceId, parent?.sampled) }
    if (ended === undefined || !context.sampled) return unrecorded(context)
    const clock = startClock()
    const startMs = clock.now() - secondsAgo * 1000
    const links = link === undefined ? [] : [link]
    return recorded({ name, context, parentSpanId: parent?.spanId, startMs, attributes, links }, clock, ended)
  }

  return { begin }
}

type Begun = Omit<EndedSpan, 'endMs' | 'failed'>

function recorded(begun: Begun, clock: Clock, ended: (span: EndedSpan) => void): Span {
  const { context } = begun
  let { attributes } = begun
  const links = [...begun.links]
  let isOpen = true

  function begin(name: SpanName, startMs: number, of: Attributes): Span {
    const own = { ...context, spanId: hex(8) }
    return recorded(
      { name, context: own, parentSpanId: context.spanId, startMs, attributes: of, links: [] },
      clock,
      ended,
    )
  }

  return {
    context,
    recording: true,
    child: (name, of = {}) => begin(name, clock.now(), of),
    past: (name, seconds, of = {}) => begin(name, clock.now() - seconds * 1000, of).end(),
    set: (more) => void (attributes = { ...attributes, ...more }),
    link(to) {
      if (to.context !== undefined && links.length < MOST_LINKS) links.push(to.context)
    },
    end(error) {
      if (!isOpen) return
      isOpen = false
      const failed = error !== undefined
      const all = failed ? { ...attributes, 'error.type': errorType(error) } : attributes
      ended({ ...begun, endMs: clock.now(), attributes: all, links, failed })
    },
  }
}

/** Has a context to be logged and handed on, and no children. */
function unrecorded(context: TraceContext): Span {
  const span: Span = { ...NO_SPAN, context, child: () => span }
  return span
}

function startClock(): Clock {
  const wall = Date.now()
  const began = performance.now()
  return { now: () => wall + performance.now() - began }
}

function hex(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}
