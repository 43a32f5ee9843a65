import type { Server } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fastify } from 'fastify'
import { openFairPlaces } from '../functions/domain/sharing/fair-places.ts'
import { boundConnections, KEPT_MS } from '../functions/domain/network/connections.ts'
import type { Connections, Timing } from '../functions/domain/network/connections.ts'
import { countParts } from '../functions/domain/network/json-parts.ts'
import { NO_SCHEMAS } from '../functions/domain/no-schemas.ts'
import { Failure } from '../functions/domain/failure.ts'
import { readTraceparent, type TraceContext } from '../functions/domain/telemetry/trace-context.ts'
import type { AdmissionRequest } from './admission/review.ts'
import { readReview, reviewOf } from './admission/review.ts'
import { readBodies } from './bodies.ts'
import type { Edge } from './edge.ts'
import { answerError, NO_ROOM, refuse } from './refusals.ts'
import { boundHandshakes } from './handshakes.ts'
import { isCertified, servedWith } from './tls.ts'
import type { KeyPair } from './tls.ts'

/** Time limit for receiving a request. The API server itself gives up after 10 s. */
const REQUEST_TIMEOUT_MS = 10_000
/** Interval of that check; Node's default of 30 s could quadruple the limit. */
const TIMEOUT_CHECK_MS = 1_000
/** API servers open one connection for each review that they wait for; each uses memory before it has sent anything. */
const MOST_CONNECTIONS = 512
/** The clock of the connections. */
const TIMING: Timing = {
  wait: (milliseconds, signal) => pause(milliseconds, undefined, { signal }),
  doNext: (work) => process.nextTick(queueMicrotask, work),
}
/** Most reviews in hand: each may hold calls of the API server, of which 64 run at once. */
export const MOST_REVIEWS = 400
/** Most brackets and commas, outside of strings, in one review: 50 ms to read and judge. A normal one has hundreds. */
const PARTS_LIMIT = 50_000
/** Most of them in all reviews that have no answer yet: about 100 MiB once they are parsed. */
const ALL_PARTS_LIMIT = 1_000_000
const NOTHING = 'There is nothing here; send reviews to POST /mutate or /validate.'
const TOO_MANY_PARTS = 'The review has more than 50,000 brackets and commas, which is the limit.'

/**
 * The HTTPS app; not listening yet. Malformed requests get 400 or 413 and one sentence. Its `close()` resolves once
 * every response was sent and the callbacks after the responses were called.
 */
export function buildApp(edge: Edge, pair: KeyPair, timing: Timing = TIMING): FastifyInstance<Server> {
  const app = fastify({
    // Not required here: only reviews need a client certificate, and the kubelet's probes have none.
    https: {
      ...servedWith(pair),
      requestCert: pair.ca !== undefined,
      rejectUnauthorized: false,
      handshakeTimeout: REQUEST_TIMEOUT_MS,
      // Node applies the longer of the two timeouts to the whole request.
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    },
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEPT_MS,
    // While draining, requests on open connections are still answered.
    return503OnClosing: false,
    logger: false,
    schemaController: NO_SCHEMAS,
  })
  const connections = boundConnections(app.server, MOST_CONNECTIONS, timing)
  if (pair.ca !== undefined) boundHandshakes(app.server)
  app.addHook('preClose', (done) => {
    connections.closeSilent()
    done()
  })
  app.addHook('onRequest', (request, reply, done) => {
    const release = connections.begin(request.raw.socket)
    if (release === undefined) return void reply.hijack()
    reply.raw.once('close', release)
    // Before its body is read, which would take the room of a review.
    if (request.is404) void connections.slowDown(request.raw.socket).then(() => refuse(reply, 404, NOTHING))
    else done()
  })
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (connections.isSlow(request.raw.socket)) reply.header('connection', 'close')
    done()
  })
  awaitAnswers(app)
  readBodies(app, connections)
  app.setErrorHandler<FastifyError | Failure>((error, _request, reply) => answerError(error, reply, edge.log))
  addHealth(app, edge)
  addReviews(app, { edge, connections, needsCertificate: pair.ca !== undefined })
  return app
}

// The server may close before the last response emits 'finish', which calls onResponse; 'close' comes after both.
function awaitAnswers(app: FastifyInstance<Server>): void {
  const open = new Set<FastifyReply['raw']>()
  app.addHook('onRequest', (_request, { raw }, done) => {
    open.add(raw)
    raw.once('close', () => open.delete(raw))
    done()
  })
  app.addHook('onClose', async () => {
    await Promise.all([...open].map((raw) => new Promise((resolve) => raw.once('close', resolve))))
  })
}

// Parsed late, because the parsed review needs much more memory than its text, which is released here.
function reviewIn(request: FastifyRequest): AdmissionRequest {
  const { body } = request
  request.body = undefined
  return readReview(parsed(typeof body === 'string' ? body : ''))
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw new Failure('InvalidSpec', 'The body is not JSON, or was truncated.', { cause })
  }
}

function addHealth(app: FastifyInstance<Server>, edge: Edge): void {
  app.get('/health/liveness', (_request, reply) => reply.send('ok\n'))
  app.get('/health/readiness', (_request, reply) =>
    edge.isDraining() ? reply.code(503).send('draining\n') : reply.send('ok\n'),
  )
}

interface Reviewing {
  readonly edge: Edge
  readonly connections: Connections
  readonly needsCertificate: boolean
}

function addReviews(app: FastifyInstance<Server>, reviewing: Reviewing): void {
  const { edge, connections, needsCertificate } = reviewing
  const places = openFairPlaces(MOST_REVIEWS)
  const parts = openFairPlaces(ALL_PARTS_LIMIT)
  const partsOf = new WeakMap<FastifyRequest, number>()
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (needsCertificate && !isCertified(request.raw.socket))
      refuse(reply, 403, 'A client certificate signed by CLIENT_CA_FILE is required, and none was sent.')
    else if (!places.hasRoom()) refuse(reply.header('connection', 'close'), 503, NO_ROOM)
    else done()
  }
  // Until it is decided, even if its sender leaves; the parts until it is answered as well. A namespace alone gets half of
  // the places and of the parts.
  async function decide<T>(
    request: FastifyRequest,
    { raw }: FastifyReply,
    { namespace }: AdmissionRequest,
    decision: () => Promise<T>,
  ): Promise<T> {
    const [leave, giveBack] = [places.enter(namespace), parts.enter(namespace, partsOf.get(request))]
    const release = connections.hold(request.raw.socket)
    try {
      if (leave === undefined || giveBack === undefined) throw noPlace()
      return await decision()
    } finally {
      leave?.()
      release()
      // Answers wait for those before them on their connection, and what follows an answer needs the review.
      if (raw.closed) giveBack?.()
      else if (giveBack !== undefined) raw.once('close', giveBack)
    }
  }
  const preHandler = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const count = typeof request.body === 'string' ? countParts(request.body, { parts: PARTS_LIMIT }) : 0
    if (!places.hasRoom()) return void refuse(reply, 503, NO_ROOM)
    if (count === undefined) return void refuse(reply, 413, TOO_MANY_PARTS)
    partsOf.set(request, count)
    done()
  }
  // Not called if the client closed the connection before: without a response the API server stores nothing.
  const afterResponse = new WeakMap<FastifyRequest, () => void>()
  const onResponse = (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    afterResponse.get(request)?.()
    done()
  }
  app.post('/mutate', { onRequest, preHandler }, async (request, reply) => {
    const review = reviewIn(request)
    return reviewOf(
      review.uid,
      await decide(request, reply, review, () => edge.mutate(review, callerOf(request))),
    )
  })
  app.post('/validate', { onRequest, preHandler, onResponse }, async (request, reply) => {
    const review = reviewIn(request)
    const verdict = await decide(request, reply, review, () => edge.validate(review, callerOf(request)))
    afterResponse.set(request, () => edge.answered(review, verdict))
    return reviewOf(review.uid, verdict)
  })
}

function noPlace(): Error {
  return Object.assign(new Error('The namespace has no place left.'), { statusCode: 503 })
}

/** Anybody else may name any span; the API server is known by its certificate. */
function callerOf(request: FastifyRequest): TraceContext | undefined {
  return isCertified(request.raw.socket) ? readTraceparent(request.headers['traceparent']) : undefined
}
