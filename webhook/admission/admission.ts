import type { Logger } from 'pino'
import type { Cluster } from '../../functions/cluster/cluster.ts'
import { applierOf } from '../../functions/domain/requester/delegation.ts'
import { judge } from '../../functions/domain/gate/gate.ts'
import type { Verdict as GateVerdict } from '../../functions/domain/gate/gate.ts'
import type { GateSettings } from '../../functions/domain/gate/settings.ts'
import { member } from '../../functions/domain/json-value.ts'
import { reviewContextOf } from '../../functions/domain/gate/review-context.ts'
import type { ReviewContext } from '../../functions/domain/gate/review-context.ts'
import { requestErrors } from '../../functions/domain/requester/request-errors.ts'
import { metadataCredentialErrors } from '../../functions/domain/schema/credential-errors.ts'
import { parse } from '../../functions/domain/schema/parse.ts'
import type { Parsed } from '../../functions/domain/schema/parse.ts'
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
import type { AdmissionRequest, Denial, Verdict } from './review.ts'
import type { ReviewShare } from './review-share.ts'
import { secretWarnings } from './secret-warnings.ts'
import type { ThreadTurns } from './thread-turns.ts'

/**
 * Time limit of the decision in milliseconds. The API server waits 10 s (timeoutSeconds of both webhook configurations):
 * the decision and the reading of Secrets have to end before that, with one second left for the transport.
 */
export const DECIDE_MS = 7_500
/** Time limit of reading Secrets after the decision, in milliseconds. */
export const LOOK_MS = 1_500

/** Most bytes of a stamp: half of the API server's limit for annotations. */
const LARGEST_STAMP = 128 * 1024

/** What the decisions need. */
export interface Admission {
  readonly cluster: Pick<Cluster, 'discover' | 'reviewAccess' | 'readSecret'>
  readonly settings: GateSettings
  readonly reviewShare: ReviewShare
  readonly inTurn: ThreadTurns
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

/** The verdict of the gate and the resource that it is about; `parsed` is undefined if nothing was requested. */
interface Judgement extends GateVerdict {
  readonly parsed: Parsed | undefined
}

const NOTHING_REQUESTED: Judgement = {
  fieldErrors: [],
  warnings: [],
  served: new Map(),
  secretRights: {},
  parsed: undefined,
}

async function judgementOf(request: AdmissionRequest, admission: Admission): Promise<Judgement> {
  if (!isNewRequest(request.application)) return NOTHING_REQUESTED
  const { namespace, object, user } = request
  const { subject } = applierOf(user, namespace, admission.settings.delegation)
  const milliseconds = admission.deadlines?.decideMs ?? DECIDE_MS
  return withDeadline({ namespace, inTurn: admission.inTurn, milliseconds }, ({ signal, inTurn }) => {
    // What has not been asked by the deadline is not asked any more.
    const context = reviewContextOf(subject, namespace, sharing(admission, namespace, signal))
    return inTurn(() => judgedBy(object, context))
  })
}

async function judgedBy(object: unknown, context: ReviewContext): Promise<Judgement> {
  const ofMetadata = [...metadataCredentialErrors(object), ...requestErrors(object)]
  const parsed = parse(object)
  const verdict = await judge(parsed, context)
  return { ...verdict, fieldErrors: [...ofMetadata, ...verdict.fieldErrors], parsed }
}

/** The same, whose calls take the share of the namespace. */
function sharing(admission: Admission, namespace: string, signal: AbortSignal): Admission {
  const { cluster, reviewShare } = admission
  const reviewAccess: typeof cluster.reviewAccess = (...of) =>
    reviewShare(namespace, signal, () => cluster.reviewAccess(...of))
  const discover: typeof cluster.discover = (...of) =>
    reviewShare(namespace, signal, () => cluster.discover(...of))
  return { ...admission, cluster: { ...cluster, reviewAccess, discover } }
}

// The decision is already made: an error here only loses the warnings.
async function warnOfSecrets(
  request: AdmissionRequest,
  { parsed, secretRights }: Judgement,
  { cluster, inTurn, log, deadlines }: Admission,
): Promise<readonly string[]> {
  if (parsed?.sound !== true) return []
  const { namespace } = request
  const terms = { namespace, inTurn, milliseconds: deadlines?.lookMs ?? LOOK_MS }
  try {
    return await withDeadline(terms, ({ inTurn }) =>
      secretWarnings(parsed, { namespace, secretRights }, { cluster, inTurn }),
    )
  } catch (error) {
    log.warn(errorFields(error, request), 'a Secret could not be read, so there are no warnings about it')
    return []
  }
}

function annotationsOf(object: unknown): Annotations {
  const annotations = member(member(object, 'metadata'), 'annotations')
  return typeof annotations === 'object' && annotations !== null ? { ...annotations } : undefined
}
