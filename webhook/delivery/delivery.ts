import type { KeyObject } from 'node:crypto'
import http from 'node:http'
import https from 'node:https'
import { getCACertificates } from 'node:tls'
import { setTimeout as pause } from 'node:timers/promises'
import { limited } from '../../functions/cluster/calls/call-limit.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { readBody } from '../../functions/domain/network/read-body.ts'
import { retryAfterOf } from '../../functions/domain/network/retry-after.ts'
import type { AppliedEvent } from '../../functions/domain/event/applied-event.ts'
import {
  SENDER_SIGNATURE,
  SENDER_TIME,
  senderSignature,
  TRACE_SIGNATURE,
  traceSignature,
  TRACEPARENT,
} from '../../functions/domain/event/sender-signature.ts'
import { boundHead } from '../../functions/net/head-bound.ts'
import { whenSwitched } from '../../functions/net/switched-protocols.ts'

/** Where events go, as a Knative SinkBinding configures it. */
export interface SinkTarget {
  readonly url: URL
  /** Extension attributes of K_CE_OVERRIDES, which override the event's own. */
  readonly extensions: Readonly<Record<string, string>>
  /** PEM text of K_CA_CERTS: certificate authorities, trusted in addition to the system's. */
  readonly caCerts: string | undefined
  /** Signs the events, so that the function knows who sends them; undefined: they have no signature. */
  readonly stampKey?: KeyObject | undefined
  /** The time that is signed. Default: that of the machine. */
  readonly now?: () => Date
}

/**
 * In milliseconds: the limit of one request, the limit of the response's body after its status, the limit of all retries,
 * and the first pause between two requests.
 */
export interface DeliveryTimes {
  readonly requestMs: number
  readonly bodyMs: number
  readonly windowMs: number
  readonly firstPauseMs: number
}

/**
 * Sends one event, with retries. Throws a Failure if it was not accepted; `signal` ends it immediately. `broken`: a
 * request before the accepted one has reached the sink, perhaps, and was not answered.
 */
export type Deliver = (event: AppliedEvent, signal: AbortSignal) => Promise<Delivered>

export interface Delivered {
  readonly broken: boolean
}

/** The body of a response has no meaning: a sink answers with none, or with a short text. */
const LARGEST_BODY = 1024 * 1024
// Short, so that a retry reaches a recovered sink before the next sweep.
const LONGEST_PAUSE_MS = 2_000
/** Statuses that are retried in addition to 5xx, as Knative's own senders do. */
const RETRY_STATUSES = new Set([404, 408, 409, 429])

/** What the sink has answered to one request. */
export interface Answer {
  readonly status: number
  readonly retryAfterMs: number
}

/** Sends one request. Returns the response, or the error instead of one. */
export type Post = (event: AppliedEvent, signal: AbortSignal) => Promise<Answer | Error>

/** Delivers to a sink over one pool of at most `sockets` kept-alive connections. */
export function makeDelivery(target: SinkTarget, sockets: number, times: DeliveryTimes): Deliver {
  const options = { keepAlive: true, maxSockets: sockets, maxFreeSockets: 16 }
  const ca = target.caCerts === undefined ? undefined : [...getCACertificates('default'), target.caCerts]
  const agent =
    target.url.protocol === 'https:'
      ? new https.Agent({ ...options, ...(ca === undefined ? {} : { ca }) })
      : new http.Agent(options)
  return deliverBy((event, signal) => post(target, agent, { event, signal, times }), times)
}

/** Delivers by requests that are repeated until one is accepted, or their time is over. */
export function deliverBy(post: Post, times: DeliveryTimes): Deliver {
  return async function deliver(event, signal) {
    const deadline = performance.now() + times.windowMs
    let broken = false
    for (let requests = 1; ; requests += 1) {
      const answer = await post(event, signal)
      if (!(answer instanceof Error) && answer.status >= 200 && answer.status < 300) return { broken }
      broken ||= isBroken(answer)
      const failure = failureOf(answer)
      const wait = pauseAfter(requests, answer, times)
      if (signal.aborted || failure.retry === 'never' || performance.now() + wait > deadline) throw failure
      await pause(wait, undefined, { signal }).catch(() => undefined)
    }
  }
}

/** The header fields of binary mode: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md */
export function binaryHeaders(
  event: AppliedEvent,
  extensions: Readonly<Record<string, string>>,
): Record<string, string> {
  const { datacontenttype = 'application/json', ...attributes } = event.attributes
  const named = Object.entries({ ...attributes, ...extensions })
  const fields = named.map(([name, value]): [string, string] => [`ce-${name}`, headerValue(value)])
  return { ...Object.fromEntries(fields), 'content-type': datacontenttype }
}

// Section 3.1.3.2: space, double quote, percent and everything outside printable ASCII are percent-encoded.
function headerValue(value: string): string {
  return value.replace(/[^\u0021\u0023\u0024\u0026-\u007e]/gu, (character) =>
    Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&'),
  )
}

/** The time is that of this request: an event may have waited, and is sent again where a request breaks. */
function signatureOf(
  { attributes }: AppliedEvent,
  { stampKey, now = () => new Date() }: SinkTarget,
): Record<string, string> {
  if (stampKey === undefined) return {}
  const time = { [SENDER_TIME]: now().toISOString() }
  const signed: Readonly<Record<string, unknown>> = { ...attributes, ...time }
  const attribute = (name: string): unknown => signed[name]
  const sender = { ...time, [SENDER_SIGNATURE]: senderSignature(attribute, stampKey) }
  if (attributes[TRACEPARENT] === undefined) return sender
  return { ...sender, [TRACE_SIGNATURE]: traceSignature(attribute, stampKey) }
}

interface Posting {
  readonly event: AppliedEvent
  readonly signal: AbortSignal
  readonly times: DeliveryTimes
}

/** A Post. The body of a response is read and ignored; the connection of one that is too long or too slow is closed. */
function post(target: SinkTarget, agent: http.Agent, posting: Posting): Promise<Answer | Error> {
  const body = JSON.stringify(posting.event.data)
  const headers = {
    ...binaryHeaders(posting.event, { ...target.extensions, ...signatureOf(posting.event, target) }),
    'content-length': Buffer.byteLength(body),
    'user-agent': 'commitlet-webhook',
  }
  const { signal, release } = limited([posting.signal], posting.times.requestMs)
  const { promise, resolve } = Promise.withResolvers<Answer | Error>()
  const client = target.url.protocol === 'https:' ? https : http
  const request = client.request(target.url, { method: 'POST', agent, headers, signal })
  boundHead(request)
  request.on('error', resolve)
  whenSwitched(request, (status) => resolve({ status, retryAfterMs: 0 }))
  request.once('response', (response) => {
    const answer = { status: response.statusCode ?? 0, retryAfterMs: retryAfterMsIn(response.headers) }
    const bounds = { most: LARGEST_BODY, signal: AbortSignal.timeout(posting.times.bodyMs) }
    const close = (): unknown => response.destroy()
    readBody(response, bounds)
      .then((body) => typeof body === 'string' && close(), close)
      .finally(() => resolve(answer))
  })
  request.end(body)
  return promise.finally(release)
}

function retryAfterMsIn({ date, 'retry-after': retryAfter }: http.IncomingHttpHeaders): number {
  return (retryAfterOf({ retryAfter, date }, Date.now()) ?? 0) * 1000
}

function failureOf(answer: Answer | Error): Failure {
  if (answer instanceof Error) {
    return new Failure('NetworkError', 'The sink could not be reached, or did not answer.', { cause: answer })
  }
  const retry = answer.status >= 500 || RETRY_STATUSES.has(answer.status) ? 'transient' : 'never'
  return new Failure('ProviderUnavailable', `The sink answered with status ${answer.status}.`, { retry })
}

/** Errors of a connection that was never open: nobody has seen the event. */
const UNSEEN = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'])
/** What a proxy answers where the program behind it has gone away. */
const GONE_STATUSES = new Set([502, 504])

function isBroken(answer: Answer | Error): boolean {
  if (!(answer instanceof Error)) return GONE_STATUSES.has(answer.status)
  return !('code' in answer && typeof answer.code === 'string' && UNSEEN.has(answer.code))
}

function pauseAfter(requests: number, answer: Answer | Error, times: DeliveryTimes): number {
  const longest = Math.min(LONGEST_PAUSE_MS, times.firstPauseMs * 2 ** (requests - 1))
  // Half fixed and half random: replicas do not retry in step, and no retry is immediate.
  const jittered = (longest * (1 + Math.random())) / 2
  return answer instanceof Error ? jittered : Math.max(jittered, answer.retryAfterMs)
}
