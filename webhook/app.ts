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
 * The API server accepts request bodies of 3 MiB; a review holds the new and the old object (2 x 3 MiB), which leaves
 * 1 MiB for the user, the options and the envelope. controller-runtime has the same limit of 7 MiB.
 */
const BODY_LIMIT = (2 * 3 + 1) * 1024 * 1024
/** Time limit for receiving a request. The API server itself gives up after 10 s. */
const REQUEST_TIMEOUT_MS = 10_000
/** Interval of that check; Node's default of 30 s could quadruple the limit. */
const TIMEOUT_CHECK_MS = 1_000
/** API servers open only a few connections; each one uses memory before it has sent anything. */
const MOST_CONNECTIONS = 512
/**
 * Most brackets and commas, outside of strings, in one review and in all reviews that are read at once: about 100 MiB
 * once they are parsed. A normal review has hundreds.
 */
const PARTS_LIMIT = 1_000_000
const TOO_MANY_PARTS = 'The review has more than 1,000,000 brackets and commas, which is the limit.'
const NO_ROOM = 'Too many reviews are being read at the moment; try again.'

/** What the HTTP server calls: the two decisions, the callback after a response, and the state of draining. */
export interface Edge {
  readonly mutate: (request: AdmissionRequest) => Promise<Verdict>
  readonly validate: (request: AdmissionRequest) => Promise<Verdict>
  /** Called once the response of /validate was sent; never if the client closed the connection before. */
  readonly answered: (request: AdmissionRequest, verdict: Verdict) => void
  readonly isDraining: () => boolean
  readonly log: Logger
}

/**
 * The HTTPS app; not listening yet. Malformed requests get 400 or 413 and one sentence. Its `close()` resolves once
 * every response was sent and the callbacks after the responses were called.
 */
export function buildApp(edge: Edge, pair: KeyPair): FastifyInstance<Server> {
  const app = fastify({
    // Not required here: only reviews need a client certificate, and the kubelet's probes have none.
    https: {
      ...pair,
      requestCert: pair.ca !== undefined,
      rejectUnauthorized: false,
      handshakeTimeout: REQUEST_TIMEOUT_MS,
      // Node applies the longer of the two timeouts to the whole request.
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    },
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // While draining, requests on open connections are still answered.
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
    refuse(reply, 404, 'There is nothing here; send reviews to POST /mutate or /validate.'),
  )
  addHealth(app, edge)
  addReviews(app, edge, pair.ca !== undefined)
  return app
}

// The budget is held until the response was sent: the parsed review is in memory until then.
function boundBodies(app: FastifyInstance<Server>): void {
  const acquire = openBudget(BODIES_LIMIT)
  app.addHook('onRequest', (request, reply, done) => {
    holdUntilAnswered(acquire(announcedBytes(request.headers, BODY_LIMIT)), reply, done)
  })
}

function holdUntilAnswered(release: Release | undefined, reply: FastifyReply, done: () => void): void {
  if (release === undefined) {
    // client-go retries automatically if the response has Retry-After.
    refuse(reply.header('retry-after', '1'), 503, NO_ROOM)
    return
  }
  reply.raw.once('close', release)
  done()
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

function addReviews(app: FastifyInstance<Server>, edge: Edge, needsCertificate: boolean): void {
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (!needsCertificate || isCertified(request)) done()
    else refuse(reply, 403, 'A client certificate signed by CLIENT_CA_FILE is required, and none was sent.')
  }
  const acquire = openBudget(PARTS_LIMIT)
  const preHandler = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const parts = typeof request.body === 'string' ? countParts(request.body, { parts: PARTS_LIMIT }) : 0
    if (parts === undefined) refuse(reply, 413, TOO_MANY_PARTS)
    else holdUntilAnswered(acquire(parts), reply, done)
  }
  // Not called if the client closed the connection before: without a response the API server stores nothing.
  const afterResponse = new WeakMap<FastifyRequest, () => void>()
  const onResponse = (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    afterResponse.get(request)?.()
    done()
  }
  app.post('/mutate', { onRequest, preHandler }, async (request) => {
    const review = reviewIn(request)
    return reviewOf(review.uid, await edge.mutate(review))
  })
  app.post('/validate', { onRequest, preHandler, onResponse }, async (request) => {
    const review = reviewIn(request)
    const verdict = await edge.validate(review)
    afterResponse.set(request, () => edge.answered(review, verdict))
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
  if (statusCode === 413) return refuse(reply, 413, 'The review is larger than 7 MiB, which is the limit.')
  if (statusCode < 500)
    return refuse(reply, 400, 'The request could not be read; send an AdmissionReview as JSON.')
  log.error({ origin: errorLogFields(error) }, 'a review could not be answered')
  return refuse(reply, 500, 'The review could not be answered; try again.')
}

// A metav1.Status: the API server shows its message to the user.
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
