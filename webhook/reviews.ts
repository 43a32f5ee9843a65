import type { Server } from 'node:https'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Failure } from '../functions/domain/failure.ts'
import type { Connections } from '../functions/domain/incoming/connections.ts'
import { countParts } from '../functions/domain/network/json-parts.ts'
import { readTraceparent, type TraceContext } from '../functions/domain/telemetry/trace-context.ts'
import { withDeadline } from './admission/deadline.ts'
import { readReview, reviewOf, type AdmissionRequest, type Verdict } from './admission/review.ts'
import { namespaceIn } from './admission/review-namespace.ts'
import type { Edge } from './edge.ts'
import { NO_ROOM, Refusal, refuse } from './refusals.ts'
import { openReviewRoom, type HeldRoom } from './review-room.ts'
import { isCertified } from './tls.ts'

/** Time limit of waiting for the turn to be read, in milliseconds: the API server waits 10 s, and a decision may take 7.5 s. */
const READ_MS = 2_000
/** Bytes in which a review has to name its namespace. The API server does so in the first two thousand. */
const BEGINNING = 16 * 1024
/** Most brackets and commas, outside of strings, in one review: 50 ms to read and judge. A normal one has hundreds. */
const PARTS_LIMIT = 50_000
/** Most headers of a review: an API server sends some ten. Of more than a hundred, some are not kept. */
const MOST_HEADERS = 50
const FORWARDED =
  'A review has to come from the API server itself, not through a proxy that adds X-Forwarded-For, and with 50 headers at most.'
const TOO_MANY_PARTS = 'The review has more than 50,000 brackets and commas, which is the limit.'

/** A review, and what it holds. */
interface ReadReview {
  readonly review: AdmissionRequest
  readonly room: HeldRoom
}

/** What the reviews are decided by, and the connections that they come on. */
export interface Reviewing {
  readonly edge: Pick<Edge, 'mutate' | 'validate' | 'answered' | 'inTurn'>
  readonly connections: Connections
  /** Whether only a client with a certificate, such as the API server, may send reviews. */
  readonly needsCertificate: boolean
}

/**
 * Adds POST /mutate and /validate, within bounds: 503 without a place for the review or a turn of its namespace, 413 for one
 * with too many parts, 400 for one that cannot be read, and 403 for a client without the certificate that it needs, and for
 * what was forwarded.
 */
export function addReviews(app: FastifyInstance<Server>, reviewing: Reviewing): void {
  const { edge, connections, needsCertificate } = reviewing
  const { hasPlace, enter } = openReviewRoom()
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (needsCertificate && !isCertified(request.raw.socket))
      refuse(reply, 403, 'A client certificate signed by CLIENT_CA_FILE is required, and none was sent.')
    else if (isForwarded(request)) refuse(reply, 403, FORWARDED)
    else if (!hasPlace()) refuse(reply.header('connection', 'close'), 503, NO_ROOM)
    else done()
  }

  // In the turns of its namespace, of all but its beginning: many may be here whole at the same moment. The bytes are released with
  // this call; what is parsed of them needs much more memory. The room of its body is held until it is answered, whose namespace is
  // not known before it is here.
  async function read(request: FastifyRequest): Promise<ReadReview> {
    const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    request.body = undefined
    const { owners, ...owner } = ownedBy(namespaceIn(bytes.toString('latin1', 0, BEGINNING)) ?? '', request)
    const room = enter(owners, bytes.length)
    const { givenUp } = room
    try {
      const terms = { ...owner, inTurn: edge.inTurn, milliseconds: READ_MS, givenUp }
      const review = await withDeadline(terms, ({ inTurn }) => inTurn(() => readNow(bytes, owner, room)))
      return { review, room }
    } catch (error) {
      room.leave()
      throw error
    }
  }

  // Holds its room until it is decided, even if its sender leaves, and not until its answer is taken, which may be never.
  async function decide(
    request: FastifyRequest,
    decision: (review: AdmissionRequest) => Promise<Verdict>,
  ): Promise<{ readonly review: AdmissionRequest; readonly verdict: Verdict }> {
    const release = connections.hold(request.raw.socket)
    try {
      const { review, room } = await read(request)
      const verdict = await decision(review).finally(room.leave)
      room.givenUp.throwIfAborted()
      return { review, verdict }
    } finally {
      release()
    }
  }

  // Not called if the client closed the connection before: without a response the API server stores nothing.
  const afterResponse = new WeakMap<FastifyRequest, (() => void) | undefined>()
  const onResponse = (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    afterResponse.get(request)?.()
    done()
  }
  app.post('/mutate', { onRequest }, async (request) => {
    const { review, verdict } = await decide(request, (one) => edge.mutate(one, callerOf(request)))
    return reviewOf(review.uid, verdict)
  })
  app.post('/validate', { onRequest, onResponse }, async (request) => {
    const { review, verdict } = await decide(request, (one) => edge.validate(one, callerOf(request)))
    afterResponse.set(request, edge.answered(review, verdict))
    return reviewOf(review.uid, verdict)
  })
}

/**
 * Whether a proxy has sent it for somebody. The API server is one, for whoever may call `pods/proxy` or `services/proxy` and
 * writes the address of this pod into a pod or a Service of their own.
 */
function isForwarded({ raw: { headers, rawHeaders } }: FastifyRequest): boolean {
  return headers['x-forwarded-for'] !== undefined || rawHeaders.length > 2 * MOST_HEADERS
}

/** Anybody else may name any span; the API server is known by its certificate. */
function callerOf(request: FastifyRequest): TraceContext | undefined {
  return isCertified(request.raw.socket) ? readTraceparent(request.headers['traceparent']) : undefined
}

/** Whose turns a review takes. */
interface Owner {
  readonly namespace: string
  readonly address: string
}

/** Whose room and turns a review takes. */
interface Owned extends Owner {
  readonly owners: readonly [string, string]
}

// Any pod may name any namespaces: those of each address are counted together.
function ownedBy(namespace: string, { raw }: FastifyRequest): Owned {
  const { remoteAddress: address = '' } = raw.socket
  return { namespace, address, owners: [address, `${address} ${namespace}`] }
}

/** The review in these bytes. It takes the turns of the namespace that it names, and names it once. */
function readNow(bytes: Buffer, { namespace, address }: Owner, room: HeldRoom): AdmissionRequest {
  const text = bytes.toString()
  const count = countParts(text, { parts: PARTS_LIMIT })
  if (count === undefined) throw new Refusal(413, TOO_MANY_PARTS)
  room.takeParts(count)
  const review = readReview(parsed(text), { address, givenUp: room.givenUp })
  if (review.namespace === namespace) return review
  throw new Failure('InvalidSpec', 'The request has to name its namespace once, and as it is.')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Failure('InvalidSpec', 'The body is not JSON, or was truncated.', { cause })
  }
}
