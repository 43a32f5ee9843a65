import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { mayBeEventList, readPosted } from './domain/event/posted.ts'
import type { Posted } from './domain/event/hint.ts'
import { Failure } from './domain/failure.ts'
import type { Connections } from './domain/incoming/connections.ts'
import { openBodyRoom } from './domain/network/body-room.ts'
import { announcedBytes, readBody, type Cut } from './domain/network/read-body.ts'
import { oneInATurn } from './domain/sharing/semaphores/one-in-a-turn.ts'

const MIB = 1024 * 1024
/** Largest event in bytes. An event names a resource; one that includes the whole object (1.5 MiB in etcd) also fits. */
const LARGEST_EVENT = 3 * MIB
/** Largest list of audit events: that of an API server that truncates (--audit-webhook-truncate-max-batch-size). */
export const LARGEST_LIST = 10 * MIB
/** Bytes of an event that is read as soon as it is complete. Usual ones have 1 KiB. */
const SMALL_EVENT = 16 * 1024
/** The message where there is no room for an event. */
export const NO_ROOM = 'Too many events are being handled at the moment; send this one again later.'

/**
 * Reads the events of a request with any content type, and reports the length of each body. Throws a Failure: Conflict where
 * there is no room for it, and InvalidSpec for what is no event.
 */
export function readBodies(
  app: FastifyInstance,
  connections: Connections,
  charge: (request: FastifyRequest, bytes: number) => void,
): void {
  const enter = openBodyRoom()
  // Many may be complete at the same moment, and each holds the thread.
  const inOneTurn = oneInATurn(nextTurn)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: NodeJS.ReadableStream) => {
    const most = mayBeEventList(request.headers) ? LARGEST_LIST : LARGEST_EVENT
    if (announcedBytes(request.headers) > most) throw unread('too large', most)
    const place = enter()
    try {
      const body = await readBody(payload, { most, place }).catch((cause: unknown) => {
        throw new Failure('InvalidSpec', 'The event was cut on its way.', { cause })
      })
      if (body === 'too many pieces') await connections.slowDown(request.raw.socket)
      if (typeof body === 'string') throw unread(body, most)
      charge(request, body.length)
      // An attempt may take minutes: only what the body names is kept until then.
      const read = (): Promise<Posted> => readPosted(request.headers, body, nextTurn)
      return await (body.length > SMALL_EVENT ? inOneTurn(read) : read())
    } finally {
      place.leave()
    }
  })
}

function unread(cut: Cut, most: number): Failure {
  if (cut === 'no room') return new Failure('Conflict', NO_ROOM)
  const message =
    cut === 'too large'
      ? `The event is too large: it has more than ${most / MIB} MiB.`
      : 'The event came in too many small pieces; send it in larger ones.'
  return new Failure('InvalidSpec', message)
}
