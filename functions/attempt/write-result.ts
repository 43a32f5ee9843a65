import { setTimeout as pause } from 'node:timers/promises'
import { CONFLICT } from '../cluster/cluster.ts'
import { carriesClaim, carriesResult, isSameRequest, isWithdrawn } from '../domain/resource/attempt-state.ts'
import { envelopeOf, refOf } from '../domain/resource/envelope.ts'
import { Failure } from '../domain/failure.ts'
import type { Envelope } from '../domain/resource/resource.ts'
import type { Status } from '../domain/resource/stored-status.ts'
import type { FailureTerms, Outcome } from '../domain/resource/status.ts'
import { failed, succeeded } from '../domain/resource/status.ts'
import type { LatePushes } from '../domain/resource/late-push.ts'
import type { Found } from './find.ts'
import { isFinal, keptChanging } from './status-writes.ts'
import type { World } from '../world.ts'

/**
 * Pauses before the writes: in total shorter than the margin of a claim over the attempt's deadline. After a pause the resource is read
 * once more, and written at once: one that somebody changes every 40 ms has a new version after each pause.
 */
const PAUSES_MS = [0, 50, 100, 200, 400, 800, 1_600, 3_200] as const

/** Whether a result was written, or superseded by a newer generation (`newer`) or by another claim (neither field). */
export interface WrittenResult {
  readonly written?: { readonly envelope: Envelope; readonly status: Status }
  /** The resource with a newer generation or requested-at, which arrived while our claim kept other attempts away. */
  readonly newer?: Found
}

/** What the status of a result depends on besides. */
interface ResultTerms extends Pick<FailureTerms, 'awaited'> {
  /** The pushes that may still be carried out; `isAskedFor`: the request of the attempt was not withdrawn since. */
  readonly stillLate?: (isAskedFor: boolean) => LatePushes
  /** Whether no attempt at the request has sent a push, this one included. Default: one may have. */
  readonly nothingPushed?: () => boolean
}

/**
 * Writes the result of an attempt in one patch. On a conflict it reads the resource again; it never overwrites another
 * uid, another generation or another attempt's claim.
 * Throws a Failure if the API server did not accept it in time, or never will.
 */
export async function writeResult(
  claim: Envelope,
  result: Outcome | Failure,
  world: World,
  { awaited = [], stillLate = () => ({}), nothingPushed = () => false }: ResultTerms = {},
): Promise<WrittenResult> {
  const { limit, random } = { limit: world.settings.retryLimit, random: world.random() }
  let lastFailure: Failure | undefined
  let tried: Status | undefined
  for (const wait of PAUSES_MS) {
    if (wait > 0) await pause(wait)
    try {
      const read = tried === undefined ? { held: claim } : await readAgain(claim, tried, world)
      if (!('held' in read)) return read
      const latest = read.held
      const now = world.now()
      const late = stillLate(!isWithdrawn(latest))
      const status =
        result instanceof Failure
          ? failed(latest, result, { now, limit, random, awaited, late, nothingPushed: nothingPushed() })
          : succeeded(latest, result, now, late)
      tried = status
      const stored = await world.cluster.patchStatus(latest, status)
      if (stored !== CONFLICT) return { written: { envelope: envelopeOf(stored), status } }
    } catch (error) {
      if (!(error instanceof Failure) || isFinal(error)) throw error
      lastFailure = error
    }
  }
  throw lastFailure ?? keptChanging()
}

/** The resource as it is now, where it still has this claim; otherwise what has become of the result. */
async function readAgain(
  claim: Envelope,
  tried: Status,
  world: World,
): Promise<{ readonly held: Envelope } | WrittenResult> {
  const whole = await world.cluster.readResource(refOf(claim))
  if (whole === undefined) return {}
  const envelope = envelopeOf(whole)
  // The answer to an earlier write may have been lost.
  if (carriesResult(envelope, claim, tried)) return { written: { envelope, status: tried } }
  if (!carriesClaim(envelope, claim)) return {}
  return isSameRequest(envelope, claim) ? { held: envelope } : { newer: { envelope, whole } }
}
