import type { Logger } from 'pino'
import { Failure } from '../functions/domain/failure.ts'
import type { Outside, Verdict as Judgement } from '../functions/domain/gate.ts'
import { judge } from '../functions/domain/gate.ts'
import { member } from '../functions/domain/member.ts'
import type { Annotations, Application } from '../functions/domain/requester.ts'
import { asksAnew, changesStamp, stampFor, stampPatch } from '../functions/domain/requester.ts'
import { originOf, reasonOf } from '../functions/domain/origin.ts'
import type { AdmissionRequest, Denial, Verdict } from './review.ts'

/** The API server waits 10 s (timeoutSeconds); an answer has to be on its way before that. */
const DEADLINE_MS = 8_000

/** What decisions need: the gate's outside, the keys of `extra` that a stamp keeps, and a log. */
export interface Admission {
  readonly outside: Outside
  readonly requesterExtra: readonly string[]
  readonly log: Logger
  /** Milliseconds that the gate may take; 8,000 where it is left out. */
  readonly deadlineMs?: number
}

/** The answer to /mutate: every fault at once, or the patch that sets the stamp. The spec is the user's. */
export async function mutate(request: AdmissionRequest, admission: Admission): Promise<Verdict> {
  if (!isConcerned(request)) return {}
  const verdict = await decide(request, admission)
  if (verdict.denial !== undefined) return verdict
  const stamp = stampFor(applicationOf(request), request.user, admission.requesterExtra)
  return { patch: stampPatch(annotationsOf(request.object), stamp) }
}

/** The answer to /validate: every fault at once, or the warnings. It never changes anything. */
export async function validate(request: AdmissionRequest, admission: Admission): Promise<Verdict> {
  return isConcerned(request) ? decide(request, admission) : {}
}

/** Does an event have to go out once the answer has left? Never for a dry run, which nobody stores. */
export function isAnnounced(request: AdmissionRequest, verdict: Verdict): boolean {
  if (request.dryRun || verdict.denial !== undefined || !isConcerned(request)) return false
  return asksAnew(applicationOf(request))
}

/** The matchCondition of the webhook configuration once more: whoever calls, only this is decided about. */
function isConcerned(request: AdmissionRequest): boolean {
  if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return false
  if (request.subResource !== '' || request.object === null) return false
  if (member(member(request.object, 'metadata'), 'deletionTimestamp')) return false
  const application = applicationOf(request)
  return asksAnew(application) || changesStamp(application)
}

function applicationOf(request: AdmissionRequest): Application {
  return { before: request.operation === 'CREATE' ? undefined : request.oldObject, after: request.object }
}

async function decide(request: AdmissionRequest, admission: Admission): Promise<Verdict> {
  try {
    const { faults, warnings } = await inTime(judge(request.object, admission.outside), admission.deadlineMs)
    return faults.length === 0 ? { warnings } : { denial: denialOf(faults) }
  } catch (error) {
    return { denial: undecided(error, request, admission.log) }
  }
}

async function inTime(judgement: Promise<Judgement>, deadlineMs = DEADLINE_MS): Promise<Judgement> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Failure('Timeout', 'The gate took too long.')), deadlineMs)
  try {
    return await Promise.race([judgement, late])
  } finally {
    clearTimeout(timer)
  }
}

/** One fault is the message; several stand below each other, each with its field. */
function denialOf(faults: Judgement['faults']): Denial {
  const forbidden = faults.every(({ reason }) => reason === 'ReferenceForbidden')
  const [first, ...others] = faults.map(({ message }) => message)
  const message =
    others.length === 0
      ? `${first}`
      : [`${faults.length} things have to be mended:`, first, ...others].join('\n- ')
  return forbidden ? { code: 403, reason: 'Forbidden', message } : { code: 422, reason: 'Invalid', message }
}

function undecided(error: unknown, request: AdmissionRequest, log: Logger): Denial {
  const reason = reasonOf(error)
  const { kind, namespace, name } = request
  log.warn({ reason, origin: originOf(error), kind, namespace, name }, 'admission could not be decided')
  const message = `The cluster could not be asked whether this may be applied (${reason}), so nothing was stored: try again.`
  return { code: 503, reason: 'ServiceUnavailable', message }
}

function annotationsOf(object: unknown): Annotations {
  const annotations = member(member(object, 'metadata'), 'annotations')
  return typeof annotations === 'object' && annotations !== null ? { ...annotations } : undefined
}
