import { CONFLICT } from '../cluster/cluster.ts'
import {
  carriesClaim,
  hasLapsedOften,
  isSameRequest,
  lapsesOf,
  latePushesBefore,
  isJustRequested,
  mayBeOnBranch,
  mayHavePushed,
  mayPushLate,
  mayStart,
} from '../domain/resource/attempt-state.ts'
import { envelopeOf, refOf } from '../domain/resource/envelope.ts'
import { pushPlace } from '../domain/commit/push-place.ts'
import { Failure } from '../domain/failure.ts'
import { afterFailure } from '../domain/resource/late-push.ts'
import { parse } from '../domain/schema/parse.ts'
import type { Parsed } from '../domain/schema/parse.ts'
import type { Envelope } from '../domain/resource/resource.ts'
import type { Status } from '../domain/resource/stored-status.ts'
import { claimed, failed } from '../domain/resource/status.ts'
import { report } from './report.ts'
import { rest } from './rest.ts'
import { keptChanging, MAX_WRITES } from './status-writes.ts'
import type { World } from '../world.ts'

/** A resource as it was read. Only its envelope decides whether an attempt starts, even if its spec is invalid. */
export interface Claimable {
  readonly envelope: Envelope
  readonly parsed: Parsed
  /** What a failed attempt waited for has changed: its `lastAttemptTime`; see `mayStart`. */
  readonly awaited?: string | undefined
}

/** A resource that has our claim in its status. */
export interface Claim extends Claimable {
  /** An earlier attempt was made for this generation and requested-at. */
  readonly isRetry: boolean
  /** What it has pushed or opened may be there. */
  readonly again: boolean
  /** See isJustRequested. */
  readonly isRequested: boolean
  /** When the claim was sent, by `elapsed` of the World. */
  readonly sentAt: number
}

/** A spec other than the one that was read: it may need another share of the pod. */
export interface Newer {
  readonly newer: Claimable
  /** Our own claim for what was read before, if there is one. */
  readonly heldBefore?: Envelope | undefined
}

/**
 * Claims the resource by writing the phase Progressing, guarded by the resourceVersion that was read, so that only one
 * of several concurrent attempts gets it. Undefined if the resource was deleted or no attempt may start any more. Returns
 * the spec that is stored by now, unclaimed, if that has changed. `heldBefore` is our own claim for an older generation,
 * which does not keep this attempt from starting; its status says what late pushes are known of at its end.
 */
export async function claim(
  found: Claimable,
  world: World,
  heldBefore?: Envelope,
): Promise<Claim | Newer | undefined> {
  let latest = found
  let held = heldBefore
  for (let writes = 0; writes < MAX_WRITES; writes += 1) {
    const isOurs = held !== undefined && carriesClaim(latest.envelope, held)
    if (latest.envelope.metadata.deletionTimestamp !== undefined) return undefined
    if (latest.envelope.suspended === true) return rest(latest.envelope, world, held)
    if (!isOurs && !mayStart(latest.envelope, world.now(), latest.awaited)) return undefined
    if (hasLapsedOften(latest.envelope, world.settings.retryLimit)) return endInPlaceOf(latest, world)
    // What became of the pushes under our own claim is known.
    const late = isOurs ? (held?.status ?? {}) : latePushesBefore(latest.envelope)
    const status = claimed(latest.envelope, { now: world.now(), random: world.random(), late })
    const sentAt = world.elapsed()
    const whole = await write(latest.envelope, status, world)
    if (whole === undefined) return undefined
    const stored = readAgain(latest, whole)
    // A response may be lost: then the second write conflicts with what the first one has written.
    const isClaimed = carriesClaim(stored.envelope, { ...latest.envelope, status })
    if (isClaimed && isSameRequest(stored.envelope, latest.envelope))
      return { ...stored, sentAt, ...earlierAttempts(latest.envelope) }
    // The claim is for a generation or a request that is no longer the latest.
    if (isClaimed) held = stored.envelope
    if (stored.parsed !== latest.parsed) return { newer: stored, heldBefore: held }
    latest = stored
  }
  throw keptChanging()
}

function earlierAttempts(before: Envelope): Pick<Claim, 'isRetry' | 'again' | 'isRequested'> {
  return {
    isRetry: mayHavePushed(before),
    again: mayBeOnBranch(before),
    isRequested: isJustRequested(before),
  }
}

// A spec changes only with the generation, so it is parsed once for each generation.
function readAgain({ envelope: before, parsed, awaited }: Claimable, whole: unknown): Claimable {
  const envelope = envelopeOf(whole)
  const { uid, generation } = envelope.metadata
  const isSame = uid === before.metadata.uid && generation === before.metadata.generation
  return { envelope, awaited, parsed: isSame ? parsed : parse(whole) }
}

/** The resource as stored after the write, ours or another writer's; undefined if it was deleted. */
async function write(resource: Envelope, status: Status, world: World): Promise<unknown> {
  const stored = await world.cluster.patchStatus(resource, status)
  return stored === CONFLICT ? world.cluster.readResource(refOf(resource)) : stored
}

function lapsed(lapses: number): Failure {
  const attempts = lapses === 1 ? 'attempt' : `${lapses} attempts`
  const message = `The last ${attempts} did not finish, for example because of the end of the process; Commitlet retries automatically, and your Commitlet operator should check the log.`
  return new Failure('Internal', message)
}

/** The last attempt never reported a result: writes and reports one in its place. */
async function endInPlaceOf({ envelope: resource, parsed }: Claimable, world: World): Promise<undefined> {
  const began = world.elapsed()
  const { retryLimit: limit } = world.settings
  const lapses = lapsesOf(resource)
  const result = lapsed(lapses)
  const terms = {
    now: world.now(),
    limit,
    random: world.random(),
    lapses,
    late: afterFailure(resource.status ?? {}, pushPlace(parsed), mayPushLate(resource)),
  }
  const status = failed(resource, result, terms)
  const stored = await world.cluster.patchStatus(resource, status)
  // Another writer was first and reports its own result.
  if (stored === CONFLICT) return
  const settled = { written: { envelope: envelopeOf(stored), status } }
  const { target } = parsed
  await report({ claim: resource, result, began, settled, target, engine: 'none' }, world)
}
