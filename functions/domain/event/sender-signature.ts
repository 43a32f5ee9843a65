import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto'
import { readTraceparent, type TraceContext } from '../telemetry/trace-context.ts'

/**
 * The extension attribute by which the function knows the events of the webhook. It gives them priority, never rights:
 * whatever an event says, the function reads the resource itself.
 */
export const SENDER_SIGNATURE = 'sendersignature'

/**
 * The extension attribute with the time at which the webhook has sent the event, in RFC 3339. Without it, who has collected many
 * events could repeat them for ever: those that were seen are remembered in each pod, and not all of them.
 */
export const SENDER_TIME = 'sendertime'
/** Clocks of pods may differ by so many milliseconds. */
const CLOCKS_MS = 10 * 60_000
/** How long a Broker may take to deliver an event, by equal clocks. A later one has no priority; a sweep has sent another. */
const ON_ITS_WAY_MS = 10 * 60_000

/**
 * The extension attribute that says the same of `traceparent`
 * (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/extensions/distributed-tracing.md). Without it, an event begins
 * a trace of its own: nobody else chooses which traces are recorded, or adds to another's. A signature of its own, because a
 * Broker may change the extension, which is no reason to distrust the event.
 */
export const TRACE_SIGNATURE = 'tracesignature'
export const TRACEPARENT = 'traceparent'

/** What both signatures cover. Extensions may be overridden on the way (K_CE_OVERRIDES), these attributes not. */
const COVERED = ['id', 'source', 'type', 'subject'] as const
/** Makes signatures for another purpose invalid here, and these invalid elsewhere. */
const PURPOSE = 'commitlet.dev/v1 sender-signature'
const TRACE_PURPOSE = 'commitlet.dev/v1 trace-signature'

type Attribute = (name: string) => unknown

/** The signature of an event: HMAC-SHA256 (RFC 2104) over its attributes, as 64 hex digits. */
export function senderSignature(attribute: Attribute, key: KeyObject): string {
  return signatureOver(PURPOSE, [...COVERED, SENDER_TIME].map(attribute), key)
}

/** The same for its `traceparent`, which belongs to this event alone. */
export function traceSignature(attribute: Attribute, key: KeyObject): string {
  return signatureOver(TRACE_PURPOSE, [...COVERED, TRACEPARENT].map(attribute), key)
}

/**
 * Whether the headers of an event in binary mode have the signature of a webhook with this key, sent at most 20 minutes before
 * `now` or 10 after it. Takes some microseconds, and none for an event without a signature.
 */
export function isFromWebhook(
  headers: Readonly<Record<string, unknown>>,
  key: KeyObject,
  now: Date,
): boolean {
  const age = now.getTime() - Date.parse(String(headers[`ce-${SENDER_TIME}`]))
  const isRecent = age >= -CLOCKS_MS && age <= ON_ITS_WAY_MS + CLOCKS_MS
  return isRecent && isSigned(headers, SENDER_SIGNATURE, (attribute) => senderSignature(attribute, key))
}

/** The trace of an event in binary mode, if a webhook with this key has signed it. */
export function signedTrace(
  headers: Readonly<Record<string, unknown>>,
  key: KeyObject,
): TraceContext | undefined {
  const trace = readTraceparent(headers[`ce-${TRACEPARENT}`])
  const isGenuine =
    trace !== undefined && isSigned(headers, TRACE_SIGNATURE, (attribute) => traceSignature(attribute, key))
  return isGenuine ? trace : undefined
}

function isSigned(
  headers: Readonly<Record<string, unknown>>,
  name: string,
  sign: (attribute: Attribute) => string,
): boolean {
  const given = headers[`ce-${name}`]
  if (typeof given !== 'string') return false
  const expected = Buffer.from(sign((attribute) => headers[`ce-${attribute}`]))
  const bytes = Buffer.from(given)
  return bytes.length === expected.length && timingSafeEqual(bytes, expected)
}

function signatureOver(purpose: string, values: readonly unknown[], key: KeyObject): string {
  return createHmac('sha256', key)
    .update(`${purpose}\n${JSON.stringify(values)}`)
    .digest('hex')
}
