import { setTimeout as pause } from 'node:timers/promises'
import Fastify from 'fastify'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { openBodyRoom } from './domain/network/body-room.ts'
import { boundConnections } from './domain/network/connections.ts'
import type { Connections, Timing } from './domain/network/connections.ts'
import { NO_SCHEMAS } from './domain/no-schemas.ts'
import { announcedBytes, readBody } from './domain/network/read-body.ts'
import type { Cut } from './domain/network/read-body.ts'
import { readEvent } from './domain/event/cloud-event.ts'
import { isFromWebhook } from './domain/event/sender-signature.ts'
import { Failure } from './domain/failure.ts'
import { FUNCTION_METRICS } from './domain/telemetry/function-metrics.ts'
import { NO_METER, type Meter } from './domain/telemetry/meter.ts'
import { codeLabel } from './domain/telemetry/program-metrics.ts'
import { errorLogFields } from './domain/error-log-fields.ts'
import type { ObjectRef } from './domain/resource/resource.ts'
import { openEventPlaces } from './event-places.ts'
import type { Sender } from './event-places.ts'

/** Largest event in bytes. An event names a resource; one that includes the whole object (1.5 MiB in etcd) also fits. */
const LARGEST_EVENT = 3 * 1024 * 1024
/** Time limit for receiving one request. */
const REQUEST_TIMEOUT_MS = 30_000
/** Interval of that check; Node's default of 30 s could double the limit. */
const TIMEOUT_CHECK_MS = 1_000
/** Each connection uses memory before it has sent anything. */
const MOST_CONNECTIONS = 2_048
/** The clock of the connections. */
const TIMING: Timing = {
  wait: (milliseconds, signal) => pause(milliseconds, undefined, { signal }),
  doNext: (work) => process.nextTick(queueMicrotask, work),
}
/** Retry-After in seconds, for events that could not be handled. */
const RETRY_AFTER = '5'
const NO_ROOM = 'Too many events are being handled at the moment; send this one again later.'

/** Handles one event; throws only if nothing could be written. */
export type Handle = (ref: ObjectRef, sender: Sender) => Promise<void>

export interface AppOptions {
  readonly stampKey?: Uint8Array | undefined
  /** Default: the clock. */
  readonly timing?: Timing
  /** Default: nothing is measured. */
  readonly meter?: Meter
}

/**
 * The HTTP server. `POST /` answers 202 with an empty body (done, nothing to do, or the failure is in the status),
 * 400 (not an event) or 503 with Retry-After (nothing could be written, too many events, draining). Closing it drains:
 * new events get 503, events in flight are finished. With the key of the stamps, the events of the webhook have places
 * that no other sender gets.
 */
export function buildApp(handle: Handle, log: Logger, options: AppOptions = {}): FastifyInstance {
  const { stampKey, timing = TIMING, meter = NO_METER } = options
  // Fastify's own response while it closes has a body and no Retry-After.
  const app = Fastify({
    logger: false,
    schemaController: NO_SCHEMAS,
    return503OnClosing: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Node applies the longer of the two timeouts to the whole request.
    http: { headersTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: TIMEOUT_CHECK_MS },
  })
  const connections = boundConnections(app.server, MOST_CONNECTIONS, timing)
  let draining = false
  app.addHook('preClose', (done) => {
    draining = true
    connections.closeSilent()
    done()
  })
  app.addHook('onRequest', (request, reply, done) => {
    const release = connections.begin(request.raw.socket)
    if (release === undefined) return void reply.hijack()
    reply.raw.once('close', release)
    done()
  })
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (connections.isSlow(request.raw.socket)) reply.header('connection', 'close')
    done()
  })
  app.addHook('onResponse', ({ method, url }, { statusCode }, done) => {
    // Not the probes.
    if (method === 'POST' && url === '/')
      meter.record(FUNCTION_METRICS.events, 1, { code: codeLabel(statusCode) })
    done()
  })
  readBodies(app, connections)
  app.setErrorHandler((error: FastifyError, _request, reply) => answerError(error, reply, log))
  app.get('/health/liveness', (_request, reply) => reply.code(200).send())
  app.get('/health/readiness', (_request, reply) => reply.code(draining ? 503 : 200).send())
  const places = openEventPlaces(stampKey !== undefined, () => performance.now())
  const senderOf = ({ headers }: FastifyRequest): Sender =>
    stampKey !== undefined && isFromWebhook(headers, stampKey) ? 'webhook' : 'anybody'
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (places.admits(senderOf(request))) done()
    // Before its body is read. A flood is slowed down by that, and who repeats an event waits in any case.
    else void connections.slowDown(request.raw.socket).then(() => askToRetry(reply, NO_ROOM))
  }
  app.post('/', { onRequest }, async (request, reply) => {
    if (draining) return askToRetry(reply)
    const sender = senderOf(request)
    const ref = readEvent(request.headers, Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0))
    // An attempt may take minutes: do not keep the body in memory until then.
    request.body = undefined
    const leave = places.take(sender, ref.namespace)
    if (leave === undefined) return askToRetry(reply, NO_ROOM)
    // Until it was handled, even if its sender leaves.
    const release = connections.hold(request.raw.socket)
    const handled = await isHandled(() => handle(ref, sender), ref, log).finally(() => {
      leave()
      release()
    })
    return handled ? reply.code(202).send() : askToRetry(reply)
  })
  return app
}

/** Handles the event. False if nothing could be written, which is logged. */
async function isHandled(handle: () => Promise<void>, ref: ObjectRef, log: Logger): Promise<boolean> {
  try {
    await handle()
    return true
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { reason } = error
    log.warn({ resource: ref, reason, origin: errorLogFields(error) }, 'nothing could be written')
    return false
  }
}

/** Reads the body of a request with any content type. */
function readBodies(app: FastifyInstance, connections: Connections): void {
  const enter = openBodyRoom()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: NodeJS.ReadableStream) => {
    if (announcedBytes(request.headers) > LARGEST_EVENT) throw unread('too large')
    const place = enter()
    const body = await readBody(payload, { most: LARGEST_EVENT, place }).catch((cause: unknown) => {
      throw new Failure('InvalidSpec', 'The event was cut on its way.', { cause })
    })
    // It is parsed at once, and then dropped.
    place.leave()
    if (body === 'too many pieces') await connections.slowDown(request.raw.socket)
    if (typeof body === 'string') throw unread(body)
    return body
  })
}

function unread(cut: Cut): Failure {
  if (cut === 'no room') return new Failure('Conflict', NO_ROOM)
  const message =
    cut === 'too large'
      ? 'The event is too large: it has more than 3 MiB.'
      : 'The event came in too many small pieces; send it in larger ones.'
  return new Failure('InvalidSpec', message)
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
