import Fastify from 'fastify'
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import type { Logger } from 'pino'
import { announcedBytes, BODIES_LIMIT, openBudget } from './domain/network/body-budget.ts'
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
/** Twice the events that run or wait at once; each connection uses memory before it has sent anything. */
const MOST_CONNECTIONS = 2_048
/** Retry-After in seconds, for events that could not be handled. */
const RETRY_AFTER = '5'
const NO_ROOM = 'Too many events are being read at the moment; send this one again later.'

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
    bodyLimit: LARGEST_EVENT,
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
  app.server.maxConnections = MOST_CONNECTIONS
  boundBodies(app)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body)
  })
  app.setErrorHandler((error: FastifyError, _request, reply) => {
    const known = error instanceof Failure || (error.statusCode ?? 500) < 500
    if (known) return reply.code(400).send({ error: error.message })
    log.error({ origin: errorLogFields(error) }, 'event could not be handled')
    return askToRetry(reply)
  })
  app.get('/health/liveness', (_request, reply) => reply.code(200).send())
  app.get('/health/readiness', (_request, reply) => reply.code(draining ? 503 : 200).send())
  app.post('/', async (request, reply) => {
    if (draining) return askToRetry(reply)
    const ref = readEvent(request.headers, Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0))
    // An attempt may take minutes: do not keep the body in memory until then.
    request.body = undefined
    try {
      await handle(ref)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      log.warn(
        { resource: ref, reason: error.reason, origin: errorLogFields(error) },
        'nothing could be written',
      )
      return askToRetry(reply)
    }
    return reply.code(202).send()
  })
  return app
}

// Counted only while a body is being read: it is discarded after parsing.
function boundBodies(app: FastifyInstance): void {
  const acquire = openBudget(BODIES_LIMIT)
  app.addHook('onRequest', (request, reply, done) => {
    const release = acquire(announcedBytes(request.headers, LARGEST_EVENT))
    if (release === undefined) {
      askToRetry(reply, { error: NO_ROOM })
      return
    }
    request.raw.once('close', release)
    done()
  })
}

function askToRetry(reply: FastifyReply, body?: { readonly error: string }): FastifyReply {
  return reply.code(503).header('retry-after', RETRY_AFTER).send(body)
}
