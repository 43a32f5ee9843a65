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
 * Most bytes of all reviews in memory: five of the largest. Parsed, a text has twice as many where it holds
 * other letters than those of western Europe, and what was read before is in memory until it is collected.
 */
export const REVIEWS_LIMIT = 36 * 1024 * 1024

/** Most bytes of all answers that are not taken yet; beyond that, the connection of the oldest is closed. */
const MOST_UNTAKEN = 16 * 1024 * 1024

/**
 * Reads the bytes of the body of each request, whatever its content type. An error has the status of the answer, or is a
 * Failure with its sentence.
 */
export function readBodies(app: FastifyInstance<Server>, connections: Connections): void {
  const enter = openBodyRoom(REVIEWS_LIMIT)
  const leaving = new WeakMap<FastifyRequest, () => void>()
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.once('close', () => leaving.get(request)?.())
    done()
  })
  // The room is held until there is an answer: the parsed review is in memory until then. Its sender may never take it.
  app.addHook('onSend', (request, _reply, _payload, done) => {
    leaving.get(request)?.()
    done()
  })
  boundAnswers(app)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: NodeJS.ReadableStream) => {
    if (announcedBytes(request.headers) > BODY_LIMIT) throw withStatus(413)
    const place = enter(request.raw.socket.remoteAddress)
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

/** An answer repeats a stamp of up to 128 KiB; those of API servers are taken within milliseconds. */
function boundAnswers(app: FastifyInstance<Server>): void {
  const enter = openBodyRoom(MOST_UNTAKEN)
  app.addHook('onSend', ({ raw: { socket } }, reply, payload, done) => {
    const place = enter()
    const giveUp = (): void => {
      place.leave()
      socket.destroy()
    }
    if (typeof payload === 'string' && !reply.raw.closed) {
      place.take(Buffer.byteLength(payload), giveUp)
      reply.raw.once('close', place.leave)
    }
    done()
  })
}

function withStatus(statusCode: number, cause?: unknown): Error {
  return Object.assign(new Error('The body was not read.', { cause }), { statusCode })
}
