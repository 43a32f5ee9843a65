import type { Server } from 'node:https'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Failure } from '../functions/domain/failure.ts'
import { openBodyRoom } from '../functions/domain/network/body-room.ts'
import type { Connections } from '../functions/domain/incoming/connections.ts'
import { announcedBytes, readBody } from '../functions/domain/network/read-body.ts'

/**
 * The API server accepts request bodies of 3 MiB; a review holds the new and the old object (2 x 3 MiB), which leaves
 * 1 MiB for the user, the options and the envelope. controller-runtime has the same limit of 7 MiB.
 */
const BODY_LIMIT = (2 * 3 + 1) * 1024 * 1024
const TOO_MANY_PIECES = 'The review came in too many small pieces; send it in larger ones.'

/**
 * Reads the bytes of the body of each request, whatever its content type. An error has the status of the answer, or is a
 * Failure with its sentence.
 */
export function readBodies(app: FastifyInstance<Server>, connections: Connections): void {
  const enter = openBodyRoom()
  const leaving = new WeakMap<FastifyRequest, () => void>()
  // The room is held until the response was sent: the parsed review is in memory until then.
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.once('close', () => leaving.get(request)?.())
    done()
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: NodeJS.ReadableStream) => {
    if (announcedBytes(request.headers) > BODY_LIMIT) throw withStatus(413)
    const place = enter()
    leaving.set(request, place.leave)
    const body = await readBody(payload, { most: BODY_LIMIT, place }).catch((cause: unknown) => {
      throw withStatus(400, cause)
    })
    if (body === 'too many pieces') {
      await connections.slowDown(request.raw.socket)
      throw new Failure('InvalidSpec', TOO_MANY_PIECES)
    }
    if (typeof body === 'string') throw withStatus(body === 'no room' ? 503 : 413)
    return body
  })
}

function withStatus(statusCode: number, cause?: unknown): Error {
  return Object.assign(new Error('The body was not read.', { cause }), { statusCode })
}
