import { Failure } from '../failure.ts'
import type { Attributes, SpanName } from './spans.ts'
import type { TraceContext } from './trace-context.ts'

/** A piece of work in a trace. Nothing here throws or takes longer than some microseconds. */
export interface Span {
  /** Undefined only where nothing is traced. */
  readonly context: TraceContext | undefined
  /** Whether anybody will see it; if not, its children are not made. */
  readonly recording: boolean
  readonly child: (name: SpanName, attributes?: Attributes) => Span
  /** A child that has taken so many seconds, and ends now. */
  readonly past: (name: SpanName, seconds: number, attributes?: Attributes) => void
  readonly set: (attributes: Attributes) => void
  /** Names a span of another trace that this one has to do with. */
  readonly link: (to: Span) => void
  /** The first call counts. Of an error, only its reason is kept. */
  readonly end: (error?: unknown) => void
}

/** How a span begins. */
export interface Beginning {
  /** Undefined: a trace of its own. */
  readonly parent?: TraceContext | undefined
  /** A span of another trace that it has to do with, and that decides nothing here. */
  readonly link?: TraceContext | undefined
  /** How long ago; default: now. */
  readonly secondsAgo?: number
  readonly attributes?: Attributes
}

/** Where a program begins its spans. `main.ts` makes the real one; nothing else knows who gets them. */
export interface Tracer {
  readonly begin: (name: SpanName, beginning?: Beginning) => Span
}

/** The span of what is not traced. */
export const NO_SPAN: Span = {
  context: undefined,
  recording: false,
  child: () => NO_SPAN,
  past: () => undefined,
  set: () => undefined,
  link: () => undefined,
  end: () => undefined,
}

/** Traces nothing: in tests. */
export const NO_TRACER: Tracer = { begin: () => NO_SPAN }

/** Does the work in a child of this span, which ends with it. */
export function inSpan<T>(
  parent: Span | undefined,
  name: SpanName,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return endWith((parent ?? NO_SPAN).child(name), work)
}

/** Does the work, and ends the span with it. */
export async function endWith<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    const result = await work(span)
    span.end()
    return result
  } catch (error) {
    span.end(error)
    throw error
  }
}

/** What `error.type` says of an error: its reason, never its text. */
export function errorType(error: unknown): string {
  return error instanceof Failure ? error.reason : 'Internal'
}
