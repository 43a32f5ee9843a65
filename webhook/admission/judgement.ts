import { accessInNobodysNamespace } from '../../functions/cluster/access-review.ts'
import type { InTurn } from '../../functions/cluster/calls/slow-calls.ts'
import type { Cluster } from '../../functions/cluster/cluster.ts'
import { judge, type Verdict } from '../../functions/domain/gate/gate.ts'
import { reviewContextOf, type ReviewContext } from '../../functions/domain/gate/review-context.ts'
import type { GateSettings } from '../../functions/domain/gate/settings.ts'
import { applierOf } from '../../functions/domain/requester/delegation.ts'
import { bytesOfUser } from '../../functions/domain/requester/user-info.ts'
import { requestErrors } from '../../functions/domain/requester/request-errors.ts'
import { LARGEST_STAMP } from '../../functions/domain/requester/stamp-time.ts'
import { isNewRequest } from '../../functions/domain/requester/stamp.ts'
import { metadataCredentialErrors } from '../../functions/domain/schema/credential-errors.ts'
import { parse, type Parsed } from '../../functions/domain/schema/parse.ts'
import { withDeadline } from './deadline.ts'
import { oversizedUser } from './responses.ts'
import type { AdmissionRequest } from './review.ts'
import type { ReviewOwner, ReviewShare } from './review-share.ts'
import type { ThreadTurns } from './thread-turns.ts'

/**
 * Time limit of the decision in milliseconds. The API server waits 10 s (timeoutSeconds of both webhook configurations):
 * the decision and the reading of Secrets have to end before that, with one second left for the transport.
 */
export const DECIDE_MS = 7_500

/** Bytes as JSON. Most users have fewer than a thousand; a review takes ten times as long with as many as this. */
const LONG_USER = 8 * 1024

/** What the gate is asked with. */
export interface Judging {
  readonly cluster: Pick<Cluster, 'discover' | 'reviewAccess'>
  readonly settings: GateSettings
  readonly reviewShare: ReviewShare
  readonly inTurn: ThreadTurns
  /** `decideMs`: the time limit in milliseconds; default: 7,500. */
  readonly deadlines?: { readonly decideMs: number }
}

/** The verdict of the gate and the resource that it is about; `parsed` is undefined if nothing was requested. */
export interface Judgement extends Verdict {
  readonly parsed: Parsed | undefined
}

const NOTHING_REQUESTED: Judgement = {
  fieldErrors: [],
  warnings: [],
  served: new Map(),
  secretRights: {},
  parsed: undefined,
}

/**
 * The judgement of what is requested, with all field errors of the resource. Throws Timeout at the deadline, and asks the API
 * server nothing more from then on; throws the Failure of a call that could not be made.
 */
export async function judgementOf(request: AdmissionRequest, judging: Judging): Promise<Judgement> {
  if (!isNewRequest(request.application)) return NOTHING_REQUESTED
  const { namespace, object, user, address, givenUp } = request
  const bytes = bytesOfUser(user, LARGEST_STAMP)
  if (bytes > LARGEST_STAMP) return { ...NOTHING_REQUESTED, fieldErrors: [oversizedUser(bytes, request)] }
  const { subject } = applierOf(user, namespace, judging.settings.delegation)
  const milliseconds = judging.deadlines?.decideMs ?? DECIDE_MS
  const terms = { namespace, address, inTurn: judging.inTurn, milliseconds, givenUp }
  return withDeadline(terms, ({ signal, inTurn }) => {
    // What has not been asked by the deadline is not asked any more.
    const owner = { namespace, address, isLong: bytes > LONG_USER }
    const context = reviewContextOf(subject, namespace, sharing(judging, owner, signal))
    return inTurn(() => judgedBy(object, context))
  })
}

async function judgedBy(object: unknown, context: ReviewContext): Promise<Judgement> {
  const ofMetadata = [...metadataCredentialErrors(object), ...requestErrors(object)]
  const parsed = parse(object)
  const verdict = await judge(parsed, context)
  return { ...verdict, fieldErrors: [...ofMetadata, ...verdict.fieldErrors], parsed }
}

/** The same, whose calls take the share of the namespace, and of the address. */
function sharing(judging: Judging, owner: ReviewOwner, signal: AbortSignal): Judging {
  const { cluster, reviewShare } = judging
  const reviewAccess: typeof cluster.reviewAccess = (user, access) => {
    const forAnybody = (): Promise<boolean> => cluster.reviewAccess(user, accessInNobodysNamespace(access))
    return reviewShare({ ...owner, forAnybody }, signal, () => cluster.reviewAccess(user, access))
  }
  const inTurn: InTurn = (call) => reviewShare({ ...owner, isLong: false }, signal, call)
  const discover: typeof cluster.discover = (apiVersion, kind) =>
    cluster.discover(apiVersion, kind, { inTurn })
  return { ...judging, cluster: { ...cluster, reviewAccess, discover } }
}
