import Fastify from 'fastify'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { openBodyRoom } from './domain/network/body-room.ts'
import { boundConnections } from './domain/network/connections.ts'
import { announcedBytes, readBody } from './domain/network/read-body.ts'
import type { Cut } from './domain/network/read-body.ts'
import { readEvent } from './domain/event/cloud-event.ts'
import { Failure } from './domain/failure.ts'
import { errorLogFields } from './domain/error-log-fields.ts'
import type { ObjectRef } from './domain/resource/resource.ts'

/** Largest event in bytes. An event names a resource; one that includes the whole object (1.5 MiB in etcd) also fits. */
const LARGEST_EVENT = 3 * 1024 * 1024
/** Time limit for receiving one request. */
const REQUEST_TIMEOUT_MS = 30_000
/** Interval of that check; Node's default of 30 s could double the limit. */
const TIMEOUT_CHECK_MS = 1_000
/** Each connection uses memory before it has sent anything. */
const MOST_CONNECTIONS = 2_048
/**
 * Most events in hand: the attempts that run or wait (attempt/shares.ts), and some 250 whose resource is being read. Each
 * takes some 10 KiB, and each read some milliseconds.
 */
export const MOST_EVENTS = 1_280
/** Retry-After in seconds, for events that could not be handled. */
const RETRY_AFTER = '5'
const NO_ROOM = 'Too many events are being handled at the moment; send this one again later.'

/** Handles one event; throws only if nothing could be written. */
export type Handle = (ref: ObjectRef) => Promise<void>

/**
 * The HTTP server. `POST /` answers 202 with an empty body (done, nothing to do, or the failure is in the status),
 * 400 (not an event) or 503 with Retry-After (nothing could be written, too many events, draining). Closing it drains:
 * new events get 503, events in flight are finished.
 */
export function buildApp(handle: Handle, log: Logger): FastifyInstance {
  // Fastify's own response while it closes has a body and no Retry-After.
  const app = Fastify({
    logger: false,
    return503OnClosing: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Node applies the longer of the two timeouts to the whole request.
    http: { headersTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: TIMEOUT_CHECK_MS },
  })
  let draining = false
  app.addHook('preClose', (done) => {
    draining = true
    done()
  })
  const connections = boundConnections(app.server, MOST_CONNECTIONS)
  app.addHook('onRequest', (request, reply, done) => {
    const release = connections.begin(request.raw.socket)
    if (release === undefined) return void reply.hijack()
    reply.raw.once('close', release)
    done()
  })
  readBodies(app)
  app.setErrorHandler((error: FastifyError, _request, reply) => answerError(error, reply, log))
  app.get('/health/liveness', (_request, reply) => reply.code(200).send())
  app.get('/health/readiness', (_request, reply) => reply.code(draining ? 503 : 200).send())
  let inHand = 0
  const onRequest = (_request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (inHand < MOST_EVENTS) done()
    else askToRetry(reply.header('connection', 'close'), NO_ROOM)
  }
  app.post('/', { onRequest }, async (request, reply) => {
    if (draining) return askToRetry(reply)
    if (inHand >= MOST_EVENTS) return askToRetry(reply, NO_ROOM)
    const ref = readEvent(request.headers, Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0))
    // An attempt may take minutes: do not keep the body in memory until then.
    request.body = undefined
    // Until it was handled, even if its sender leaves.
    inHand += 1
    const release = connections.hold(request.raw.socket)
    const handled = await isHandled(ref, handle, log).finally(() => {
      inHand -= 1
      release()
    })
    return handled ? reply.code(202).send() : askToRetry(reply)
  })
  return app
}

/** Handles the event. False if nothing could be written, which is logged. */
async function isHandled(ref: ObjectRef, handle: Handle, log: Logger): Promise<boolean> {
  try {
    await handle(ref)
    return true
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { reason } = error
    log.warn({ resource: ref, reason, origin: errorLogFields(error) }, 'nothing could be written')
    return false
  }
}

/** Reads the body of a request with any content type. */
function readBodies(app: FastifyInstance): void {
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
