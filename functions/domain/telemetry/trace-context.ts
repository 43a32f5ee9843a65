/** Where a piece of work is in a trace (W3C Trace Context, https://www.w3.org/TR/trace-context/). */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits. */
  readonly spanId: string
  /** Whether the trace is recorded, by those who record any. */
  readonly sampled: boolean
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
/** Later versions begin with the same fields, and may have more; `ff` is not valid. */
const VERSION = '00'
const SAMPLED = 1

/**
 * Reads the value of `traceparent`; undefined for anything that is not valid (section 3.2.2 of the specification). Whether
 * its sender may choose a trace is not decided here.
 */
export function readTraceparent(value: unknown): TraceContext | undefined {
  if (typeof value !== 'string' || value.length > 512) return undefined
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(value) ?? []
  if (version === undefined || version === 'ff' || (version === VERSION && more !== undefined))
    return undefined
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED }
}

/** The value of `traceparent` that says the same. */
export function traceparentOf({ traceId, spanId, sampled }: TraceContext): string {
  return `${VERSION}-${traceId}-${spanId}-${sampled ? '01' : '00'}`
}
