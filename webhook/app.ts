import type { Server } from 'node:https'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fastify } from 'fastify'
import type { Logger } from 'pino'
import { announcedBytes, BODIES_LIMIT, openBudget } from '../functions/domain/network/body-budget.ts'
import { countParts } from '../functions/domain/network/json-parts.ts'
import type { Release } from '../functions/domain/network/body-budget.ts'
import { Failure } from '../functions/domain/failure.ts'
import { errorLogFields } from '../functions/domain/error-log-fields.ts'
import type { AdmissionRequest, Verdict } from './admission/review.ts'
import { readReview, reviewOf } from './admission/review.ts'
import type { KeyPair } from './tls.ts'

/**
 * The API server takes request bodies of 3 MiB; a review holds the new object and the old one (2 x 3 MiB), and
 * 1 MiB is left for the user, the options and the envelope. controller-runtime reads 7 MiB as well.
 */
const BODY_LIMIT = (2 * 3 + 1) * 1024 * 1024
/** The API server gives up after 10 s; whoever sends a request more slowly than this is not one. */
const REQUEST_TIMEOUT_MS = 10_000
/** How often that is looked at; Node's own pace of 30 s would triple it. */
const TIMEOUT_CHECK_MS = 1_000
/** An API server has a handful of connections; each one takes memory before it has sent anything. */
const MOST_CONNECTIONS = 512
/**
 * Brackets and commas, outside of strings, of all reviews that are read at once, and so of one: some 100 MiB once they
 * are parsed. An honest review has hundreds.
 */
const PARTS_LIMIT = 1_000_000
const TOO_MANY_PARTS = 'The review has more than the 1,000,000 brackets and commas that are read here.'
const NO_ROOM = 'Too many reviews are being read at the moment: try again.'

/** What the HTTP edge hands on: two decisions, what follows an answer, and whether it may be asked at all. */
export interface Edge {
  readonly mutate: (request: AdmissionRequest) => Promise<Verdict>
  readonly validate: (request: AdmissionRequest) => Promise<Verdict>
  /** Called once the answer of /validate has left; never where the client has gone before. */
  readonly answered: (request: AdmissionRequest, verdict: Verdict) => void
  readonly isDraining: () => boolean
  readonly log: Logger
}

/**
 * The HTTPS app; not listening yet. Malformed requests are answered with 400 or 413 and one sentence. Its `close()`
 * resolves once every answer has left and what follows it has been called.
 */
export function buildApp(edge: Edge, pair: KeyPair): FastifyInstance<Server> {
  const app = fastify({
    // Only reviews need a client certificate: the kubelet's probes have none.
    https: {
      ...pair,
      requestCert: pair.ca !== undefined,
      rejectUnauthorized: false,
      handshakeTimeout: REQUEST_TIMEOUT_MS,
      // Node takes the longer one of the two for the whole request.
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    },
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // While draining, what still comes in over an open connection is answered rather than failed.
    return503OnClosing: false,
    logger: false,
  })
  app.server.maxConnections = MOST_CONNECTIONS
  boundBodies(app)
  awaitAnswers(app)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    done(null, body)
  })
  app.setErrorHandler<FastifyError | Failure>((error, _request, reply) => answerError(error, reply, edge.log))
  app.setNotFoundHandler((_request, reply) =>
    refuse(reply, 404, 'There is nothing here: reviews go to POST /mutate or /validate.'),
  )
  addHealth(app, edge)
  addReviews(app, edge, pair.ca !== undefined)
  return app
}

// The room is held until the answer has left: what is read of a review lives as long.
function boundBodies(app: FastifyInstance<Server>): void {
  const take = openBudget(BODIES_LIMIT)
  app.addHook('onRequest', (request, reply, done) => {
    holdUntilAnswered(take(announcedBytes(request.headers, BODY_LIMIT)), reply, done)
  })
}

function holdUntilAnswered(giveBack: Release | undefined, reply: FastifyReply, done: () => void): void {
  if (giveBack === undefined) {
    // client-go asks again by itself where it finds Retry-After.
    refuse(reply.header('retry-after', '1'), 503, NO_ROOM)
    return
  }
  reply.raw.once('close', giveBack)
  done()
}

// The server may be closed while the 'finish' of its last answer, and so onResponse, is yet to come; 'close' follows both.
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

// Only now: what is parsed takes much more memory than its text, which is let go of here.
function reviewIn(request: FastifyRequest): AdmissionRequest {
  const { body } = request
  request.body = undefined
  return readReview(parsed(typeof body === 'string' ? body : ''))
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw new Failure('InvalidSpec', 'The body is not JSON, or was cut on its way.', { cause })
  }
}

function addHealth(app: FastifyInstance<Server>, edge: Edge): void {
  app.get('/health/liveness', (_request, reply) => reply.send('ok\n'))
  app.get('/health/readiness', (_request, reply) =>
    edge.isDraining() ? reply.code(503).send('draining\n') : reply.send('ok\n'),
  )
}

function addReviews(app: FastifyInstance<Server>, edge: Edge, certified: boolean): void {
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (!certified || isCertified(request)) done()
    else
      refuse(reply, 403, 'A client certificate that CLIENT_CA_FILE signed is needed here, and none was sent.')
  }
  const take = openBudget(PARTS_LIMIT)
  const preHandler = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const parts = typeof request.body === 'string' ? countParts(request.body, { parts: PARTS_LIMIT }) : 0
    if (parts === undefined) refuse(reply, 413, TOO_MANY_PARTS)
    else holdUntilAnswered(take(parts), reply, done)
  }
  // Not where the client has gone before: an API server without an answer stores nothing, and a sweep would find it.
  const decided = new WeakMap<FastifyRequest, () => void>()
  const onResponse = (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    decided.get(request)?.()
    done()
  }
  app.post('/mutate', { onRequest, preHandler }, async (request) => {
    const review = reviewIn(request)
    return reviewOf(review.uid, await edge.mutate(review))
  })
  app.post('/validate', { onRequest, preHandler, onResponse }, async (request) => {
    const review = reviewIn(request)
    const verdict = await edge.validate(review)
    decided.set(request, () => edge.answered(review, verdict))
    return reviewOf(review.uid, verdict)
  })
}

function isCertified(request: FastifyRequest): boolean {
  const { socket } = request.raw
  return 'authorized' in socket && socket.authorized === true
}

function answerError(error: FastifyError | Failure, reply: FastifyReply, log: Logger): FastifyReply {
  if (error instanceof Failure) return refuse(reply, 400, error.message)
  const { statusCode = 500 } = error
  if (statusCode === 413) return refuse(reply, 413, 'The review is larger than the 7 MiB that are read here.')
  if (statusCode < 500)
    return refuse(reply, 400, 'The request could not be read: send an AdmissionReview as JSON.')
  log.error({ origin: errorLogFields(error) }, 'a review could not be answered')
  return refuse(reply, 500, 'The review could not be answered: try again.')
}

// A metav1.Status, because the API server shows its message to the user.
function refuse(reply: FastifyReply, code: number, message: string): FastifyReply {
  const reasons: Readonly<Record<number, string>> = {
    403: 'Forbidden',
    404: 'NotFound',
    413: 'RequestEntityTooLarge',
    500: 'InternalError',
    503: 'ServiceUnavailable',
  }
  const reason = reasons[code] ?? 'BadRequest'
  return reply.code(code).send({ apiVersion: 'v1', kind: 'Status', status: 'Failure', code, reason, message })
}
