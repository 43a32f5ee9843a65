import type { Logger } from 'pino'
import { Failure } from '../../functions/domain/failure.ts'
import type { FieldError } from '../../functions/domain/field-error.ts'
import { REASONS } from '../../functions/domain/reasons.ts'
import { errorLogFields, reasonOf } from '../../functions/domain/error-log-fields.ts'
import type { ErrorLogFields } from '../../functions/domain/error-log-fields.ts'
import { GROUP, REQUESTED_AT } from '../../functions/domain/resource/resource.ts'
import { STAMP } from '../../functions/domain/requester/stamp.ts'
import type { AdmissionRequest, Cause, Denial, DenialDetails } from './review.ts'

/** The metav1.Status of a denial. Where several would fit, the first: what is wrong in the spec comes before rights. */
const DENIALS = [
  { code: 422, reason: 'Invalid' },
  { code: 503, reason: 'ServiceUnavailable' },
  { code: 403, reason: 'Forbidden' },
] as const

/** Fields of a log line. */
export interface MishapFields extends Pick<AdmissionRequest, 'kind' | 'namespace' | 'name'> {
  readonly reason: string
  readonly cause?: string
  readonly origin: ErrorLogFields
}

/** What lists the other webhooks. */
const LIST_WEBHOOKS = 'kubectl get mutatingwebhookconfigurations'

/** One fault is the message; several stand below each other, each with its field. Each is a cause of its own. */
export function denialOf(fieldErrors: readonly FieldError[], request: AdmissionRequest): Denial {
  const found = new Set(fieldErrors.map(({ reason }) => REASONS[reason].denial))
  const status = DENIALS.find(({ reason }) => found.has(reason)) ?? DENIALS[0]
  const [first, ...others] = fieldErrors.map(({ message }) => message)
  const message =
    others.length === 0
      ? `${first}`
      : [`${fieldErrors.length} things have to be mended:`, first, ...others].join('\n- ')
  return { ...status, message, details: detailsOf(fieldErrors, request) }
}

function detailsOf(fieldErrors: readonly FieldError[], { kind, name }: AdmissionRequest): DenialDetails {
  return { group: GROUP, kind, name, causes: fieldErrors.map(causeOf) }
}

function causeOf({ reason, field, message }: FieldError): Cause {
  if (field === '') return { reason, message }
  const begins = `${field} `
  return { reason, field, message: message.startsWith(begins) ? message.slice(begins.length) : message }
}

/** The object carries another stamp than this replica of the webhook wants; that has one of two causes. */
export function foreignStamp(): Denial {
  const message = `The annotations ${STAMP.slice(0, -1).join(', ')} and ${STAMP.at(-1)} are not as Commitlet's /validate wants them: either another admission webhook changed the object after /mutate (look for it by \`${LIST_WEBHOOKS}\`, and let it leave them alone), or the webhook's replicas have different settings, as while new ones are rolled out; then try again in a moment.`
  return { code: 403, reason: 'Forbidden', message }
}

/** The stamp is the one that this replica wants, but for its signature: so it is while a new key is rolled out. */
export function foreignSignature(): Denial {
  const message = `The stamp in commitlet.dev/requester-signature is signed for something else or with another key: most likely two replicas of the webhook sign with different keys; try again in a moment. If that goes on, another admission webhook changes spec or ${REQUESTED_AT} after /mutate; look for it by \`${LIST_WEBHOOKS}\`.`
  return { code: 503, reason: 'ServiceUnavailable', message }
}

/** The stamp would leave too little room for other annotations, or none: nobody's name is cut. */
export function oversizedStamp(bytes: number, request: AdmissionRequest): Denial {
  const { groups = [] } = request.user
  const message = `What the API server says of you (user name, ${groups.length} groups and the keys of REQUESTER_EXTRA) takes ${Math.ceil(bytes / 1024)} KiB in the annotations of the resource, but may take 128 KiB: ask whoever runs the log-in to give you fewer groups.`
  const fault = { reason: 'InvalidSpec', field: 'metadata.annotations', message } as const
  return { code: 422, reason: 'Invalid', message, details: detailsOf([fault], request) }
}

/** What somebody learns who has asked with an empty value, as a `date` that fails leaves it. */
export const EMPTY_REQUEST = `metadata.annotations: ${REQUESTED_AT} is empty, which asks for nothing; write a value that it has not had before, such as "$(date -u +%FT%TZ)".`

/** What somebody learns who has written into the stamp; these annotations. */
export function stampWarnings(keys: readonly string[]): readonly string[] {
  return keys.map((key) => `${key} is written by Commitlet alone: what was sent there is not kept.`)
}

/**
 * Nothing could be decided: the API server's user may try again, unless somebody has to mend the installation first;
 * then he is told what. The operator reads all of it in the log.
 */
export function undecided(error: unknown, request: AdmissionRequest, log: Logger): Denial {
  const fields = mishapFields(error, request)
  log.warn(fields, 'admission could not be decided')
  const message =
    error instanceof Failure && error.retry === 'slow'
      ? error.message
      : `The cluster could not be asked whether this may be applied (${fields.reason}), so nothing was stored: try again.`
  return { code: 503, reason: 'ServiceUnavailable', message }
}

/** What a log line says of an error and of the request that met it: of a Failure its sentence, of a bug none. */
export function mishapFields(error: unknown, { kind, namespace, name }: AdmissionRequest): MishapFields {
  const cause = error instanceof Failure ? { cause: error.message } : {}
  return { reason: reasonOf(error), ...cause, origin: errorLogFields(error), kind, namespace, name }
}
