import type { Logger } from 'pino'
import type { Cluster } from '../../functions/cluster/cluster.ts'
import { applierOf } from '../../functions/domain/requester/delegation.ts'
import { judge } from '../../functions/domain/gate/gate.ts'
import type { Verdict as GateVerdict } from '../../functions/domain/gate/gate.ts'
import type { GateSettings } from '../../functions/domain/gate/settings.ts'
import { member } from '../../functions/domain/json-value.ts'
import { reviewContextOf } from '../../functions/domain/gate/review-context.ts'
import { parse } from '../../functions/domain/schema/parse.ts'
import type { Parsed } from '../../functions/domain/schema/parse.ts'
import { REQUESTER_SIGNATURE } from '../../functions/domain/resource/resource.ts'
import {
  isNewRequest,
  changesStamp,
  emptiesRequest,
  overwrittenIn,
  STAMP,
  stampBytes,
  stampFor,
  stampOf,
  stampPatch,
} from '../../functions/domain/requester/stamp.ts'
import type { Annotations, Application, Stamp } from '../../functions/domain/requester/stamp.ts'
import {
  denialOf,
  EMPTY_REQUEST,
  foreignSignature,
  foreignStamp,
  mishapFields,
  oversizedStamp,
  stampWarnings,
  undecided,
} from './responses.ts'
import { withDeadline } from './deadline.ts'
import type { AdmissionRequest, Denial, Verdict } from './review.ts'
import { secretWarnings } from './secret-warnings.ts'

/**
 * Milliseconds for deciding. The API server waits 10 s (timeoutSeconds of both webhook configurations): deciding and
 * looking have to end before that, with a second for the way there and back.
 */
export const DECIDE_MS = 7_500
/** Milliseconds for looking into Secrets, once it is decided. */
export const LOOK_MS = 1_500

/** Most bytes of a stamp: half of what the API server takes of annotations. */
const LARGEST_STAMP = 128 * 1024

/** What decisions need. */
export interface Admission {
  readonly cluster: Pick<Cluster, 'discover' | 'reviewAccess' | 'readSecret'>
  readonly settings: GateSettings
  /** Keys of `extra` that a stamp keeps. */
  readonly requesterExtra: readonly string[]
  readonly log: Logger
  /** Milliseconds that deciding, and then looking into Secrets, may take; left out: 7,500 and 1,500. */
  readonly deadlines?: { readonly decideMs: number; readonly lookMs: number }
}

/** The answer to /mutate: every fault at once, or the patch that sets the stamp. The spec is the user's. */
export async function mutate(request: AdmissionRequest, admission: Admission): Promise<Verdict> {
  if (!isConcerned(request)) return {}
  return decidedOr(request, admission, async () => {
    const { fieldErrors } = await judgementOf(request, admission)
    if (fieldErrors.length > 0) return { denial: denialOf(fieldErrors, request) }
    return stampedBy(request, wantedStamp(request, admission))
  })
}

/**
 * The answer to /validate, on the final object: every fault at once, or the warnings. It never changes anything.
 * Where only the stamp was touched, /mutate has put it back, and nothing is asked for that was not decided before.
 */
export async function validate(request: AdmissionRequest, admission: Admission): Promise<Verdict> {
  if (!isConcerned(request)) return {}
  return decidedOr(request, admission, async () => {
    const judgement = await judgementOf(request, admission)
    if (judgement.fieldErrors.length > 0) return { denial: denialOf(judgement.fieldErrors, request) }
    const denial = stampDenial(request, admission)
    if (denial !== undefined) return { denial }
    const looked = await look(request, judgement, admission)
    const emptied = emptiesRequest(applicationOf(request)) ? [EMPTY_REQUEST] : []
    return { warnings: [...emptied, ...judgement.warnings, ...looked] }
  })
}

function stampedBy(request: AdmissionRequest, wanted: Stamp): Verdict {
  const bytes = stampBytes(wanted)
  if (bytes > LARGEST_STAMP) return { denial: oversizedStamp(bytes, request) }
  const warnings = stampWarnings(overwrittenIn(applicationOf(request), wanted))
  const patch = stampPatch(annotationsOf(request.object), wanted)
  return warnings.length === 0 ? { patch } : { patch, warnings }
}

/** Does an event have to go out once the answer has left? Never for a dry run, which nobody stores. */
export function isAnnounced(request: AdmissionRequest, verdict: Verdict): boolean {
  if (request.dryRun || verdict.denial !== undefined || !isConcerned(request)) return false
  return isNewRequest(applicationOf(request))
}

/** The matchCondition of the webhook configuration once more: whoever calls, only this is decided about. */
function isConcerned(request: AdmissionRequest): boolean {
  if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return false
  if (request.subResource !== '' || request.object === null) return false
  const application = applicationOf(request)
  // As it is stored: what is sent may pretend.
  if (member(member(application.before, 'metadata'), 'deletionTimestamp')) return false
  return isNewRequest(application) || changesStamp(application) || emptiesRequest(application)
}

function applicationOf(request: AdmissionRequest): Application {
  const before = request.operation === 'CREATE' ? undefined : request.oldObject
  return { before, after: request.object, namespace: request.namespace }
}

function wantedStamp(request: AdmissionRequest, { settings, requesterExtra }: Admission): Stamp {
  const { delegation, stampKey } = settings
  const stamping = { user: request.user, extraKeys: requesterExtra, delegation, key: stampKey }
  return stampFor(applicationOf(request), stamping)
}

function stampDenial(request: AdmissionRequest, admission: Admission): Denial | undefined {
  const [carried, wanted] = [stampOf(request.object), wantedStamp(request, admission)]
  const [first, ...others] = STAMP.filter((key) => carried[key] !== wanted[key])
  if (first === undefined) return undefined
  // What is only put back has the signature that was stored, whoever made that.
  const signed = isNewRequest(applicationOf(request))
  return signed && first === REQUESTER_SIGNATURE && others.length === 0 ? foreignSignature() : foreignStamp()
}

async function decidedOr(
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

/** What was decided, and about what; undefined: nothing was asked for. */
interface Judgement extends GateVerdict {
  readonly parsed: Parsed | undefined
}

const NOTHING_ASKED: Judgement = {
  fieldErrors: [],
  warnings: [],
  served: undefined,
  secretRights: {},
  parsed: undefined,
}

async function judgementOf(request: AdmissionRequest, admission: Admission): Promise<Judgement> {
  if (!isNewRequest(applicationOf(request))) return NOTHING_ASKED
  const { namespace, object, user } = request
  const { subject } = applierOf(user, namespace, admission.settings.delegation)
  const parsed = parse(object)
  const judging = judge(parsed, reviewContextOf(subject, namespace, admission))
  const verdict = await withDeadline(judging, admission.deadlines?.decideMs ?? DECIDE_MS)
  return { ...verdict, parsed }
}

// It is decided already: whatever happens here, nothing but the warnings is lost.
async function look(
  request: AdmissionRequest,
  { parsed, secretRights }: Judgement,
  { cluster, log, deadlines }: Admission,
): Promise<readonly string[]> {
  if (parsed?.sound !== true) return []
  const { namespace } = request
  try {
    const looking = secretWarnings(parsed, { namespace, secretRights }, cluster)
    return await withDeadline(looking, deadlines?.lookMs ?? LOOK_MS)
  } catch (error) {
    log.warn(mishapFields(error, request), 'a Secret could not be looked into, so nothing is warned of')
    return []
  }
}

function annotationsOf(object: unknown): Annotations {
  const annotations = member(member(object, 'metadata'), 'annotations')
  return typeof annotations === 'object' && annotations !== null ? { ...annotations } : undefined
}
