import type { Logger } from 'pino'
import type { Fault } from '../functions/domain/fault.ts'
import { originOf, reasonOf } from '../functions/domain/origin.ts'
import type { AdmissionRequest, Denial } from './review.ts'

/** What nobody but somebody with the right, or the operator, can mend. */
const FORBIDDEN = ['ReferenceForbidden', 'AddressForbidden']

/** One fault is the message; several stand below each other, each with its field. */
export function denialOf(faults: readonly Fault[]): Denial {
  const forbidden = faults.every(({ reason }) => FORBIDDEN.includes(reason))
  const [first, ...others] = faults.map(({ message }) => message)
  const message =
    others.length === 0
      ? `${first}`
      : [`${faults.length} things have to be mended:`, first, ...others].join('\n- ')
  return forbidden ? { code: 403, reason: 'Forbidden', message } : { code: 422, reason: 'Invalid', message }
}

/** The object carries another stamp than /mutate sets. */
export function foreignStamp(): Denial {
  const message =
    "The annotations commitlet.dev/requested-by, requester and requester-signature are not as Commitlet's /mutate sets them: another admission webhook changed the object afterwards; let that one leave commitlet.dev alone."
  return { code: 403, reason: 'Forbidden', message }
}

/** Nothing could be decided: the API server's user may try again. Told to the operator. */
export function undecided(error: unknown, request: AdmissionRequest, log: Logger): Denial {
  const reason = reasonOf(error)
  const { kind, namespace, name } = request
  log.warn({ reason, origin: originOf(error), kind, namespace, name }, 'admission could not be decided')
  const message = `The cluster could not be asked whether this may be applied (${reason}), so nothing was stored: try again.`
  return { code: 503, reason: 'ServiceUnavailable', message }
}
