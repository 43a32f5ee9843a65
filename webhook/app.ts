import type { Server } from 'node:https'
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import { fastify } from 'fastify'
import { boundConnections, KEPT_MS } from '../functions/domain/incoming/connections.ts'
import type { Timing } from '../functions/domain/incoming/timing.ts'
import { NO_SCHEMAS } from '../functions/domain/no-schemas.ts'
import type { Failure } from '../functions/domain/failure.ts'
import { countRequests } from '../functions/net/counted-requests.ts'
import { TIMING } from '../functions/net/timing.ts'
import { readBodies } from './bodies.ts'
import { boundTLS } from './bounded-tls.ts'
import type { Edge } from './edge.ts'
import { shareHandshakes } from './handshake-shares.ts'
import { answerError, refuse, type Refusal } from './refusals.ts'
import { addReviews } from './reviews.ts'
import { servedWith } from './tls.ts'
import type { KeyPair } from './tls.ts'

/** Time limit for receiving a request. The API server itself gives up after 10 s. */
const REQUEST_TIMEOUT_MS = 10_000
/** Interval of that check; Node's default of 30 s could quadruple the limit. */
const TIMEOUT_CHECK_MS = 1_000
/**
 * API servers open one connection for each review that they wait for; each uses memory before it has sent anything. More than may
 * have a review in hand, which give way to no other one.
 */
const MOST_CONNECTIONS = 768
const NOTHING = 'There is nothing here; send reviews to POST /mutate or /validate.'

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
    frameworkErrors: (error, request, reply) => requests.refuseUnreadable(error, request, reply),
  })
  const connections = boundConnections(app.server, MOST_CONNECTIONS, timing)
  const requests = countRequests(connections, (reply, code) => refuse(reply, code, NOTHING))
  boundTLS(app.server, { inTurn: connections.inTurn, shares: shareHandshakes(timing) })
  app.addHook('preClose', (done) => {
    connections.closeSilent()
    done()
  })
  app.addHook('onRequest', requests.onRequest)
  app.addHook('onSend', requests.onSend)
  awaitAnswers(app)
  readBodies(app, connections)
  app.setErrorHandler<FastifyError | Failure | Refusal>((error, _request, reply) =>
    answerError(error, reply, edge.log),
  )
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

function addHealth(app: FastifyInstance<Server>, edge: Edge): void {
  app.get('/health/liveness', (_request, reply) => reply.send('ok\n'))
  app.get('/health/readiness', (_request, reply) =>
    edge.isDraining() ? reply.code(503).send('draining\n') : reply.send('ok\n'),
  )
}
