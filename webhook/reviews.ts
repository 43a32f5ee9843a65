import type { Server } from 'node:https'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Failure } from '../functions/domain/failure.ts'
import type { Connections } from '../functions/domain/network/connections.ts'
import { countParts } from '../functions/domain/network/json-parts.ts'
import { openFairPlaces } from '../functions/domain/sharing/fair-places.ts'
import { readTraceparent, type TraceContext } from '../functions/domain/telemetry/trace-context.ts'
import { readReview, reviewOf, type AdmissionRequest } from './admission/review.ts'
import type { Edge } from './edge.ts'
import { NO_ROOM, refuse } from './refusals.ts'
import { isCertified } from './tls.ts'

/** Most reviews in hand: each may hold calls of the API server, of which 64 run at once. */
const MOST_REVIEWS = 400
/** Most brackets and commas, outside of strings, in one review: 50 ms to read and judge. A normal one has hundreds. */
const PARTS_LIMIT = 50_000
/** Most of them in all reviews that have no answer yet: about 100 MiB once they are parsed. */
const ALL_PARTS_LIMIT = 1_000_000
const TOO_MANY_PARTS = 'The review has more than 50,000 brackets and commas, which is the limit.'

/** What the reviews are decided by, and the connections that they come on. */
export interface Reviewing {
  readonly edge: Pick<Edge, 'mutate' | 'validate' | 'answered'>
  readonly connections: Connections
  /** Whether only a client with a certificate, such as the API server, may send reviews. */
  readonly needsCertificate: boolean
}

/**
 * Adds POST /mutate and /validate, within bounds: 503 without a place for the review, 413 for one with too many parts, 400 for
 * one that cannot be read, and 403 for a client without the certificate that it needs.
 */
export function addReviews(app: FastifyInstance<Server>, reviewing: Reviewing): void {
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
