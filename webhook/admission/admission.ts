import type { Logger } from 'pino'
import type { Cluster } from '../../functions/cluster/cluster.ts'
import { isRecord, member } from '../../functions/domain/json-value.ts'
import { REQUESTER, REQUESTER_SIGNATURE } from '../../functions/domain/resource/api-names.ts'
import {
  isNewRequest,
  changesStamp,
  changesSuspend,
  emptiesRequest,
  onlyRaisesGeneration,
  overwrittenIn,
  STAMP,
  stampBytes,
  stampFor,
  stampOf,
} from '../../functions/domain/requester/stamp.ts'
import type { Application, Stamp } from '../../functions/domain/requester/stamp.ts'
import { LARGEST_STAMP } from '../../functions/domain/requester/stamp-time.ts'
import { stampPatch, type Annotations } from '../../functions/domain/requester/stamp-patch.ts'
import {
  denialOf,
  EMPTY_REQUEST,
  errorFields,
  foreignSignature,
  foreignStamp,
  oversizedStamp,
  rewrittenNumber,
  stampWarnings,
  undecided,
} from './responses.ts'
import { changesGeneration, differInGeneration } from '../../functions/domain/requester/stamp-generation.ts'
import { withDeadline } from './deadline.ts'
import { judgementOf, type Judgement, type Judging } from './judgement.ts'
import type { AdmissionRequest, Denial, Verdict } from './review.ts'
import { secretWarnings } from './secret-warnings.ts'

/** Time limit of reading Secrets after the decision, in milliseconds. */
export const LOOK_MS = 1_500

/** What the decisions need. */
export interface Admission extends Judging {
  readonly cluster: Pick<Cluster, 'discover' | 'reviewAccess' | 'readSecret'>
  /** Keys of `extra` that a stamp keeps. */
  readonly requesterExtra: readonly string[]
  readonly log: Logger
  /** Default: the clock of the machine. */
  readonly now?: () => Date
  /** Time limits in milliseconds of the decision and of reading Secrets; default: 7,500 and 1,500. */
  readonly deadlines?: { readonly decideMs: number; readonly lookMs: number }
}

/** The verdict of /mutate: all field errors together, or the patch that sets the stamp. It never changes the spec. */
export async function mutate(request: AdmissionRequest, admission: Admission): Promise<Verdict> {
  if (!isConcerned(request)) return {}
  return decideOrDeny(request, admission, async () => {
    const { fieldErrors } = await judgementOf(request, admission)
    if (fieldErrors.length > 0) return { denial: denialOf(fieldErrors, request) }
    return withStamp(request, expectedStamp(request, admission))
  })
}

/**
 * The verdict of /validate on the final object: all field errors together, or the warnings. It changes nothing. If a
 * request only touched the stamp, /mutate has restored it, and there is nothing new to decide. Here the object has the
 * generation that will be stored: no generation is new without a request or a change of `suspend`.
 */
export async function validate(request: AdmissionRequest, admission: Admission): Promise<Verdict> {
  if (!isConcerned(request)) return {}
  return decideOrDeny(request, admission, async () => {
    if (onlyRaisesGeneration(request.application)) return { denial: rewrittenNumber(request) }
    const judgement = await judgementOf(request, admission)
    if (judgement.fieldErrors.length > 0) return { denial: denialOf(judgement.fieldErrors, request) }
    const denial = stampDenial(request, admission)
    if (denial !== undefined) return { denial }
    const ofSecrets = await warnOfSecrets(request, judgement, admission)
    const ofRequest = emptiesRequest(request.application) ? [EMPTY_REQUEST] : []
    return { warnings: [...ofRequest, ...judgement.warnings, ...ofSecrets] }
  })
}

function withStamp(request: AdmissionRequest, stamp: Stamp): Verdict {
  const bytes = stampBytes(stamp)
  if (bytes > LARGEST_STAMP) return { denial: oversizedStamp(bytes, request) }
  const warnings = stampWarnings(overwrittenIn(request.application, stamp))
  const patch = stampPatch(annotationsOf(request.object), stamp)
  return warnings.length === 0 ? { patch } : { patch, warnings }
}

/** Whether an event has to be sent after the response. Never for a dry run, which is not stored. */
export function isAnnounced(request: AdmissionRequest, verdict: Verdict): boolean {
  if (request.dryRun || verdict.denial !== undefined || !isConcerned(request)) return false
  return isAnnouncement(request.application)
}

function isAnnouncement(application: Application): boolean {
  return isNewRequest(application) || changesSuspend(application)
}

/** Repeats the matchCondition of the webhook configuration, so that no other caller gets a decision about more. */
function isConcerned(request: AdmissionRequest): boolean {
  if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return false
  if (request.subResource !== '' || request.object === null) return false
  const { application } = request
  // From the stored object: a user can set the field in what they send.
  if (member(member(application.before, 'metadata'), 'deletionTimestamp')) return false
  if (changesGeneration(application.before, application.after)) return true
  return isAnnouncement(application) || changesStamp(application) || emptiesRequest(application)
}

function expectedStamp(
  request: AdmissionRequest,
  { settings, requesterExtra, now = () => new Date() }: Admission,
): Stamp {
  const { delegation, stampKey } = settings
  const { user } = request
  const stamping = { user, extraKeys: requesterExtra, delegation, key: stampKey, now: now() }
  return stampFor(request.application, stamping)
}

function stampDenial(request: AdmissionRequest, admission: Admission): Denial | undefined {
  const [actual, expected] = [stampOf(request.object), expectedStamp(request, admission)]
  const [first, ...others] = STAMP.filter((key) => actual[key] !== expected[key])
  if (first === undefined) return undefined
  // A stamp that was only restored keeps its stored signature, whichever key made it.
  if (!isNewRequest(request.application)) return foreignStamp()
  if (first === REQUESTER_SIGNATURE && others.length === 0) return foreignSignature()
  // A replica of another version may name more of the request in its stamp.
  return differInGeneration(actual[REQUESTER], expected[REQUESTER]) ? foreignSignature() : foreignStamp()
}

async function decideOrDeny(
  request: AdmissionRequest,
  { log }: Admission,
  decide: () => Promise<Verdict>,
): Promise<Verdict> {
  try {
    return await decide()
  } catch (error) {
    return { denial: undecided(error, request, log) }
  }
}

// The decision is already made: an error here only loses the warnings.
async function warnOfSecrets(
  request: AdmissionRequest,
  { parsed, secretRights }: Judgement,
  { cluster, inTurn, log, deadlines }: Admission,
): Promise<readonly string[]> {
  if (parsed?.sound !== true) return []
  const { namespace, address, givenUp } = request
  const terms = { namespace, address, inTurn, milliseconds: deadlines?.lookMs ?? LOOK_MS, givenUp }
  try {
    return await withDeadline(terms, (timed) =>
      secretWarnings(parsed, { namespace, secretRights }, { cluster, ...timed }),
    )
  } catch (error) {
    log.warn(errorFields(error, request), 'a Secret could not be read, so there are no warnings about it')
    return []
  }
}

function annotationsOf(object: unknown): Annotations {
  const annotations = member(member(object, 'metadata'), 'annotations')
  // Not copied: there may be tens of thousands.
  return isRecord(annotations) ? annotations : undefined
}
