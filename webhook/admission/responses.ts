import type { Logger } from 'pino'
import { looksLikeCredential } from '../../functions/domain/credential-text.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { FieldError } from '../../functions/domain/field-error.ts'
import { REASONS } from '../../functions/domain/reasons.ts'
import { errorLogFields, reasonOf } from '../../functions/domain/error-log-fields.ts'
import type { ErrorLogFields } from '../../functions/domain/error-log-fields.ts'
import { GROUP, REQUESTED_AT } from '../../functions/domain/resource/api-names.ts'
import { STAMP } from '../../functions/domain/requester/stamp.ts'
import { NO_TURN } from './deadline.ts'
import type { AdmissionRequest, Cause, Denial, DenialDetails } from './review.ts'

/** The metav1.Status of a denial. If several apply, the first is used: errors in the spec come before missing rights. */
const DENIALS = [
  { code: 422, reason: 'Invalid' },
  { code: 503, reason: 'ServiceUnavailable' },
  { code: 403, reason: 'Forbidden' },
] as const

/** Maximum errors that an answer lists: a user fixes no more at once, and thousands take longer to send than to find. */
const LISTED = 100

/** Fields of a log line. */
export interface RequestErrorFields extends Pick<AdmissionRequest, 'kind' | 'namespace' | 'name'> {
  readonly reason: string
  readonly cause?: string
  readonly origin?: ErrorLogFields
}

/** The command that lists other webhooks. */
const LIST_WEBHOOKS = 'kubectl get mutatingwebhookconfigurations'

/** The message is the one field error, or a list of the first 100. Each of these is also a cause in the details. */
export function denialOf(fieldErrors: readonly FieldError[], request: AdmissionRequest): Denial {
  const found = new Set(fieldErrors.map(({ reason }) => REASONS[reason].denial))
  const status = DENIALS.find(({ reason }) => found.has(reason)) ?? DENIALS[0]
  const listed = fieldErrors.slice(0, LISTED)
  const [first, ...others] = listed.map(({ message }) => message)
  const which = listed.length < fieldErrors.length ? `, of which these are the first ${LISTED}` : ''
  const message =
    others.length === 0
      ? `${first}`
      : [`${fieldErrors.length} errors have to be fixed${which}:`, first, ...others].join('\n- ')
  return { ...status, message, details: detailsOf(listed, request) }
}

function detailsOf(fieldErrors: readonly FieldError[], { kind, name }: AdmissionRequest): DenialDetails {
  return { group: GROUP, kind, name: shownName(name), causes: fieldErrors.map(causeOf) }
}

// kubectl prints the name of the details, and the log is read by others than the user.
function shownName(name: string): string {
  return looksLikeCredential(name) ? '***' : name
}

function causeOf({ reason, field, message }: FieldError): Cause {
  if (field === '') return { reason, message }
  const prefix = `${field} `
  return { reason, field, message: message.startsWith(prefix) ? message.slice(prefix.length) : message }
}

/** The object has another stamp than this replica of the webhook expects, which has one of two causes. */
export function foreignStamp(): Denial {
  const message = `The annotations ${STAMP.slice(0, -1).join(', ')} and ${STAMP.at(-1)} differ from what Commitlet's /validate expects. Either another admission webhook changed the object after /mutate (find it with \`${LIST_WEBHOOKS}\` and configure it to leave these annotations unchanged), or the webhook's replicas have different settings, for example during a rollout; then try again in a moment.`
  return { code: 403, reason: 'Forbidden', message }
}

/** The stamp is as this replica expects, except for its signature, which happens while a new key is rolled out. */
export function foreignSignature(): Denial {
  const message = `The stamp in commitlet.dev/requester-signature is signed for something else or with another key: most likely two replicas of the webhook sign with different keys; try again in a moment. If the error persists, another admission webhook changes spec or ${REQUESTED_AT} after /mutate; find it with \`${LIST_WEBHOOKS}\`.`
  return { code: 503, reason: 'ServiceUnavailable', message }
}

/** The stamp would leave too little room for other annotations. It is denied, because a stamp is never truncated. */
export function oversizedStamp(bytes: number, request: AdmissionRequest): Denial {
  const what = `user name, ${groupsOf(request)} and the keys of REQUESTER_EXTRA`
  return denialOf([oversized(`${what}) takes ${inKiB(bytes)} in the annotations of the resource`)], request)
}

/** All that is known of the user goes to the API server with each right that is reviewed, of which there may be a thousand. */
export function oversizedUser(bytes: number, request: AdmissionRequest): FieldError {
  return oversized(`user name, ${groupsOf(request)} and all of extra) takes ${inKiB(bytes)}`)
}

function oversized(what: string): FieldError {
  const message = `Your user information from the API server (${what}, but may take at most 128 KiB; ask the administrator of your cluster's user accounts to give you fewer groups.`
  return { reason: 'InvalidSpec', field: 'metadata.annotations', message }
}

function groupsOf({ user: { groups = [] } }: AdmissionRequest): string {
  return `${groups.length} groups`
}

function inKiB(bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KiB`
}

/**
 * The spec has the values that are stored, and still a new generation, which would count as a request of the user in the
 * stamp: the API server distinguishes `1` and `1.0`, which no JSON value does.
 */
export function rewrittenNumber(request: AdmissionRequest): Denial {
  const message =
    'spec differs from the stored one only in how a number is written, such as 1.0 for 1; write it as it is stored, or change its value.'
  return denialOf([{ reason: 'InvalidSpec', field: 'spec', message }], request)
}

/** The warning for a request with an empty value, such as from a `date` command that failed. */
export const EMPTY_REQUEST = `metadata.annotations: ${REQUESTED_AT} is empty, which requests nothing; write a value that it has not had before, such as "$(date -u +%FT%TZ)".`

/** The warnings for a user who set these annotations of the stamp. */
export function stampWarnings(keys: readonly string[]): readonly string[] {
  return keys.map((key) => `${key} is written by Commitlet alone; the value that was sent is ignored.`)
}

/**
 * The denial if nothing could be decided. The user may try again, unless the installation has to be fixed first; then
 * the message says what to fix. The operator finds all details in the log.
 */
export function undecided(error: unknown, request: AdmissionRequest, log: Logger): Denial {
  const fields = errorFields(error, request)
  log.warn(fields, 'admission could not be decided')
  const message =
    error instanceof Failure && (error.retry === 'slow' || error.message === NO_TURN)
      ? error.message
      : `Commitlet could not check with the cluster whether this may be applied (${fields.reason}), so nothing was stored; try again.`
  return { code: 503, reason: 'ServiceUnavailable', message }
}

/**
 * Log fields for an error and its request, with the message of a Failure, but not of a bug. Not where it occurred for what ran
 * out of time: the message says all, and a tenant may have many reviews that do.
 */
export function errorFields(error: unknown, { kind, namespace, name }: AdmissionRequest): RequestErrorFields {
  const cause = error instanceof Failure ? { cause: error.message } : {}
  const reason = reasonOf(error)
  return {
    reason,
    ...cause,
    ...(reason === 'Timeout' ? {} : { origin: errorLogFields(error) }),
    kind,
    namespace,
    name: shownName(name),
  }
}
