import type { KeyObject } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import Fastify from 'fastify'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { boundConnections, KEPT_MS } from './domain/incoming/connections.ts'
import type { Timing } from './domain/incoming/timing.ts'
import { NO_SCHEMAS } from './domain/no-schemas.ts'
import { NO_SEARCH, openArrivals } from './arrival/arrivals.ts'
import { openBeginLine } from './arrival/begin-line.ts'
import { knowSenders } from './arrival/senders.ts'
import type { Searches } from './arrival/arrivals.ts'
import type { Handle } from './arrival/in-hand.ts'
import { readPosted } from './domain/event/posted.ts'
import type { Posted } from './domain/event/hint.ts'
import { callerIn } from './domain/event/applied-event.ts'
import { signedTrace } from './domain/event/sender-signature.ts'
import { Failure } from './domain/failure.ts'
import type { ObjectRef } from './domain/resource/resource.ts'
import { FUNCTION_METRICS } from './domain/telemetry/function-metrics.ts'
import { NO_METER, type Meter } from './domain/telemetry/meter.ts'
import { codeLabel } from './domain/telemetry/program-metrics.ts'
import { errorLogFields } from './domain/error-log-fields.ts'
import { announcedBytes } from './domain/network/read-body.ts'
import { LARGEST_LIST, NO_ROOM, readBodies } from './event-bodies.ts'
import { openEventPlaces } from './event-places.ts'
import { holdConnections } from './held-connections.ts'
import { countRequests } from './net/counted-requests.ts'
import { TIMING } from './net/timing.ts'

/** Time limit for receiving one request. */
const REQUEST_TIMEOUT_MS = 30_000
/** Interval of that check; Node's default of 30 s could double the limit. */
const TIMEOUT_CHECK_MS = 1_000
/** Each connection uses memory before it has sent anything. */
const MOST_CONNECTIONS = 2_048
/** A source sends one event after the other, and drops one that was refused five times within two seconds: its next one may come soon. */
const SOURCE_WAIT_MS = 5_000
/** Retry-After in seconds, for events that could not be handled. */
const RETRY_AFTER = '5'
/** Of a proxy in the same pod. */
const LOOPBACK = /^(::ffff:)?127\.|^::1$/
const NOTHING = 'There is nothing here; send events to POST /.'

export interface AppOptions {
  /** The key of the stamps, and those that it has replaced. Default: none, so that no sender is known. */
  readonly stampKeys?: readonly KeyObject[]
  /** Default: the clock. */
  readonly timing?: Timing
  /** The time by which events of the webhook are recent. Default: that of the machine. */
  readonly now?: () => Date
  /** Default: nothing is measured. */
  readonly meter?: Meter
  /** Default: nothing is searched for. */
  readonly searches?: Searches
}

const NO_SEARCHES: Searches = { sweep: () => Promise.resolve(), lookFor: () => NO_SEARCH }

/**
 * The HTTP server. `POST /` answers 202 with an empty body (done, nothing to do, or the failure is in the status),
 * 400 (not an event) or 503 with Retry-After (nothing could be written, too many events, draining). Closing it drains:
 * new events get 503, events in flight are finished. With the key of the stamps, the events of the webhook have places
 * that no other sender gets, and so have those of the operator's sources that have its source key.
 */
export function buildApp(handle: Handle, log: Logger, options: AppOptions = {}): FastifyInstance {
  const { stampKeys = [], timing = TIMING, searches = NO_SEARCHES, meter = NO_METER, now } = options
  // Fastify's own response while it closes has a body and no Retry-After.
  const app = Fastify({
    logger: false,
    schemaController: NO_SCHEMAS,
    return503OnClosing: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEPT_MS,
    // Node applies the longer of the two timeouts to the whole request.
    http: { headersTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: TIMEOUT_CHECK_MS },
    frameworkErrors: (error, request, reply) => requests.refuseUnreadable(error, request, reply),
  })
  const connections = boundConnections(app.server, MOST_CONNECTIONS, timing)
  const requests = countRequests(connections, (reply, code) => reply.code(code).send({ error: NOTHING }))
  let draining = false
  app.addHook('preClose', (done) => {
    draining = true
    connections.closeSilent()
    done()
  })
  app.addHook('onRequest', requests.onRequest)
  app.addHook('onSend', requests.onSend)
  app.addHook('onResponse', ({ method, url }, { statusCode }, done) => {
    // Not the probes.
    if (method === 'POST' && url === '/')
      meter.record(FUNCTION_METRICS.events, 1, { code: codeLabel(statusCode) })
    done()
  })
  app.setErrorHandler((error: FastifyError, _request, reply) => answerError(error, reply, log))
  app.get('/health/liveness', (_request, reply) => reply.code(200).send())
  app.get('/health/readiness', (_request, reply) => reply.code(draining ? 503 : 200).send())
  const places = openEventPlaces(stampKeys.length > 0, () => performance.now())
  const arrivals = openArrivals({ handle, places, searches, log, wait: timing.wait, elapsed: timing.elapsed })
  app.addHook('onClose', () => arrivals.idle())
  const senders = knowSenders(stampKeys, now)
  const hold = holdConnections(connections)
  // An event of the webhook is never that large.
  readBodies(app, connections, (request, bytes) => {
    const beyond = bytes - announcedBytes(request.headers)
    if (beyond <= 0) return
    const sender = senders.of(request.headers) === 'source' ? 'source' : 'anybody'
    places.charge(sender, { address: addressOf(request), bytes: beyond })
  })
  const beginAll = openBeginLine({ elapsed: timing.elapsed, wait: timing.wait })
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const announced = announcedBytes(request.headers)
    // What is too large is refused unread.
    const bytes = announced > LARGEST_LIST ? 0 : announced
    const sender = senders.of(request.headers)
    const { socket } = request.raw
    const mayCome = (): boolean => places.admits(sender, { address: addressOf(request), bytes })
    const refuse = (): unknown => askToRetry(reply, NO_ROOM)
    // Before its body is read. A flood is slowed down by that, and who repeats an event waits in any case.
    if (mayCome()) done()
    else if (sender === 'source')
      void beginAll([{}], () => socket.destroyed || mayCome(), {
        forMs: SOURCE_WAIT_MS,
        owner: addressOf(request) ?? '',
      }).then((left) => (left === 0 ? done() : refuse()))
    else void connections.slowDown(socket).then(refuse)
  }
  app.post<{ Body: Posted | undefined }>('/', { onRequest }, async (request, reply) => {
    if (draining) return askToRetry(reply)
    const read = request.body ?? (await readPosted(request.headers, Buffer.alloc(0), nextTurn))
    const [trace] = stampKeys.flatMap((key) => signedTrace(request.headers, key) ?? [])
    const { headers, raw } = request
    const admitted = senders.of(headers)
    const sender = senders.claim(headers, read)
    const caller = sender === 'webhook' ? callerIn(headers) : undefined
    const posted = withRef(read, {
      ...(trace === undefined ? {} : { trace }),
      ...(caller === undefined ? {} : { caller }),
    })
    if (sender !== admitted && !places.admits(sender, { address: addressOf(request), bytes: 0 })) {
      await connections.slowDown(raw.socket)
      return askToRetry(reply, NO_ROOM)
    }
    // Until it was handled, even if its sender leaves.
    const release = hold(raw.socket, posted, sender)
    const followed = await arrivals.follow(posted, sender, addressOf(request)).finally(release)
    if (followed === 'done') return reply.code(202).send()
    if (sender === 'webhook') senders.release(headers)
    return askToRetry(reply, followed === 'no room' ? NO_ROOM : undefined)
  })
  return app
}

/** Undefined on the way through a proxy of the pod, such as that of Knative: then all come from there. */
function addressOf({ raw }: FastifyRequest): string | undefined {
  const { remoteAddress } = raw.socket
  return LOOPBACK.test(remoteAddress ?? '') ? undefined : remoteAddress
}

/** The same, with what is known besides of the resources that it is about. */
function withRef(posted: Posted, more: Pick<ObjectRef, 'trace' | 'caller'>): Posted {
  if (more.trace === undefined && more.caller === undefined) return posted
  const hints = posted.hints.map((hint) =>
    hint.about === 'resource' ? { ...hint, ref: { ...hint.ref, ...more } } : hint,
  )
  return { ...posted, hints }
}

function answerError(error: FastifyError | Failure, reply: FastifyReply, log: Logger): FastifyReply {
  if (error instanceof Failure && error.reason === 'Conflict') return askToRetry(reply, error.message)
  const known = error instanceof Failure || (error.statusCode ?? 500) < 500
  if (known) return reply.code(400).send({ error: error.message })
  log.error({ origin: errorLogFields(error) }, 'event could not be handled')
  return askToRetry(reply)
}

function askToRetry(reply: FastifyReply, error?: string): FastifyReply {
  return reply
    .code(503)
    .header('retry-after', RETRY_AFTER)
    .send(error === undefined ? undefined : { error })
}
