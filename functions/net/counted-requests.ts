import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Connections } from '../domain/incoming/connections.ts'

/** What a server does with each request, whatever it asks for. */
export interface CountedRequests {
  /** For the hook `onRequest`: counts the request, and refuses it where nothing is at its path, before its body is read. */
  readonly onRequest: (request: FastifyRequest, reply: FastifyReply, done: () => void) => void
  /** For the hook `onSend`: tells the sender if the connection is closed after this answer. */
  readonly onSend: (request: FastifyRequest, reply: FastifyReply, payload: unknown, done: () => void) => void
  /** For `frameworkErrors`: the same for an address that cannot be read, of which Fastify tells no hook. */
  readonly refuseUnreadable: (error: unknown, request: FastifyRequest, reply: FastifyReply) => void
}

/**
 * Counts the requests of a server as its connections bound them. Who asks for what is not there waits for the refusal, which
 * `refuse` sends: a body at such a path would cost as much as that of another request, and has no bound.
 */
export function countRequests(
  connections: Pick<Connections, 'begin' | 'slowDown' | 'isLast'>,
  refuse: (reply: FastifyReply, code: 400 | 404) => unknown,
): CountedRequests {
  function count({ raw }: FastifyRequest, reply: FastifyReply): boolean {
    const release = connections.begin(raw.socket)
    if (release === undefined) reply.hijack()
    else reply.raw.once('close', release)
    return release !== undefined
  }

  function refuseLate({ raw }: FastifyRequest, reply: FastifyReply, code: 400 | 404): void {
    void connections.slowDown(raw.socket).then(() => refuse(reply, code))
  }

  return {
    onRequest(request, reply, done) {
      if (!count(request, reply)) return
      if (request.is404) refuseLate(request, reply, 404)
      else done()
    },
    onSend(request, reply, _payload, done) {
      if (connections.isLast(request.raw.socket)) reply.header('connection', 'close')
      done()
    },
    refuseUnreadable(_error, request, reply) {
      reply.header('connection', 'close')
      if (count(request, reply)) refuseLate(request, reply, 400)
    },
  }
}
