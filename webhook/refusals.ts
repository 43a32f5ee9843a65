import type { FastifyError, FastifyReply } from 'fastify'
import type { Logger } from 'pino'
import { errorLogFields } from '../functions/domain/error-log-fields.ts'
import { Failure } from '../functions/domain/failure.ts'

/** The message of 503. */
export const NO_ROOM = 'Too many reviews are being decided at the moment; try again.'

/** Ends a request with this status and sentence. */
export class Refusal extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Answers a request that could not be read or decided. A bug is logged. */
export function answerError(
  error: FastifyError | Failure | Refusal,
  reply: FastifyReply,
  log: Logger,
): FastifyReply {
  if (error instanceof Refusal) return refuse(reply, error.code, error.message)
  if (error instanceof Failure) return refuse(reply, error.reason === 'Timeout' ? 503 : 400, error.message)
  const { statusCode = 500 } = error
  if (statusCode === 413) return refuse(reply, 413, 'The review is larger than 7 MiB, which is the limit.')
  if (statusCode === 503) return refuse(reply, 503, NO_ROOM)
  if (statusCode < 500)
    return refuse(reply, 400, 'The request could not be read; send an AdmissionReview as JSON.')
  log.error({ origin: errorLogFields(error) }, 'a review could not be answered')
  return refuse(reply, 500, 'The review could not be answered; try again.')
}

/** Answers with a metav1.Status: the API server shows its message to the user. After 503 it retries automatically. */
export function refuse(reply: FastifyReply, code: number, message: string): FastifyReply {
  const reasons: Readonly<Record<number, string>> = {
    403: 'Forbidden',
    404: 'NotFound',
    413: 'RequestEntityTooLarge',
    500: 'InternalError',
    503: 'ServiceUnavailable',
  }
  const reason = reasons[code] ?? 'BadRequest'
  if (code === 503) reply.header('retry-after', '1')
  return reply.code(code).send({ apiVersion: 'v1', kind: 'Status', status: 'Failure', code, reason, message })
}
