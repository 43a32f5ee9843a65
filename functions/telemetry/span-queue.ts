import { setTimeout as pause } from 'node:timers/promises'
import { PROGRAM_METRICS } from '../domain/telemetry/program-metrics.ts'
import type { Meter } from '../domain/telemetry/meter.ts'
import type { EndedSpan } from './tracer.ts'

/** How one request ended. `again`: the same may be sent again, after `retryAfterMs`. */
export interface Sent {
  readonly outcome: 'accepted' | 'refused' | 'again'
  readonly retryAfterMs?: number
  /** Why it was not accepted: one word or status. */
  readonly cause?: string
}

/** Sends spans once, and always resolves. */
export type SendSpans = (spans: readonly EndedSpan[], signal: AbortSignal) => Promise<Sent>

/** Spans that wait for their request. */
export interface SpanQueue {
  /** Takes microseconds; without room the span is lost, and counted. */
  readonly add: (span: EndedSpan) => void
  /** Sends what waits, for a few seconds at most. What comes afterwards is lost. */
  readonly close: () => Promise<void>
}

export interface QueueParts {
  readonly send: SendSpans
  readonly meter: Meter
  /** Told when spans cannot be sent, and when they can again; not for each request. */
  readonly changed: (problem: string | undefined) => void
  readonly times?: QueueTimes
}

/** In milliseconds. */
export interface QueueTimes {
  /** How long a span waits for others. */
  readonly gatherMs: number
  readonly firstPauseMs: number
  readonly closeMs: number
}

/** As the batch processor of OpenTelemetry's SDKs by default: 2,048 spans, some 2 MB; 512 in a request; after 5 s. */
const MOST_WAITING = 2_048
const MOST_SENT = 512
const TIMES: QueueTimes = { gatherMs: 5_000, firstPauseMs: 1_000, closeMs: 3_000 }
/** Requests for the same spans, and the longest pause between two of them, whatever the collector asks for. */
const MOST_REQUESTS = 5
const LONGEST_PAUSE_MS = 30_000

/** A queue without spans. One request at a time; nobody waits for it. */
export function openSpanQueue({ send, meter, changed, times = TIMES }: QueueParts): SpanQueue {
  const waiting: EndedSpan[] = []
  const closing = new AbortController()
  const over = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | undefined
  let problem: string | undefined

  function count(spans: number, outcome: string): void {
    meter.record(PROGRAM_METRICS.spans, spans, { outcome })
  }
  for (const outcome of ['sent', 'failed', 'dropped']) count(0, outcome)

  function add(span: EndedSpan): void {
    if (closing.signal.aborted || waiting.length >= MOST_WAITING) {
      count(1, 'dropped')
      return
    }
    waiting.push(span)
    if (sending === undefined && waiting.length >= MOST_SENT) start()
    else if (sending === undefined) timer ??= setTimeout(start, times.gatherMs).unref()
  }

  function start(): void {
    clearTimeout(timer)
    timer = undefined
    sending ??= sendAll().finally(() => (sending = undefined))
  }

  async function sendAll(): Promise<void> {
    while (waiting.length > 0 && !over.signal.aborted) await deliver(waiting.splice(0, MOST_SENT))
  }

  async function deliver(spans: readonly EndedSpan[]): Promise<void> {
    for (let requests = 1; ; requests += 1) {
      const { outcome, retryAfterMs = 0, cause } = await send(spans, over.signal)
      tell(outcome === 'accepted' ? undefined : cause)
      // Draining does not wait for a collector that has asked for a pause.
      const isLast = requests === MOST_REQUESTS || closing.signal.aborted
      if (outcome !== 'again' || isLast) {
        count(spans.length, outcome === 'accepted' ? 'sent' : 'failed')
        return
      }
      const backoff = times.firstPauseMs * 2 ** (requests - 1) * (0.5 + Math.random() / 2)
      const wait = Math.min(LONGEST_PAUSE_MS, Math.max(backoff, retryAfterMs))
      await pause(wait, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)
    }
  }

  function tell(now: string | undefined): void {
    if (now !== undefined ? problem === undefined : problem !== undefined) changed(now)
    problem = now
  }

  async function close(): Promise<void> {
    closing.abort()
    const deadline = setTimeout(() => over.abort(), times.closeMs)
    start()
    await sending
    clearTimeout(deadline)
    count(waiting.splice(0).length, 'dropped')
  }

  return { add, close }
}
