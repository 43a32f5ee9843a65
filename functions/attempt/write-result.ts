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

/** Pauses between writes: in total shorter than the margin of a claim over the attempt's deadline. */
const PAUSES_MS = [50, 100, 200, 400, 800, 1_600, 3_200] as const

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
  { awaited = [], stillLate = () => ({}) }: ResultTerms = {},
): Promise<WrittenResult> {
  const { limit, random } = { limit: world.settings.retryLimit, random: world.random() }
  let lastFailure: Failure | undefined
  let latest = claim
  for (const wait of PAUSES_MS) {
    try {
      const now = world.now()
      const late = stillLate(!isWithdrawn(latest))
      const status =
        result instanceof Failure
          ? failed(latest, result, { now, limit, random, awaited, late })
          : succeeded(latest, result, now, late)
      const stored = await world.cluster.patchStatus(latest, status)
      if (stored !== CONFLICT) return { written: { envelope: envelopeOf(stored), status } }
      const whole = await world.cluster.readResource(refOf(claim))
      if (whole === undefined) return {}
      const envelope = envelopeOf(whole)
      // The answer to an earlier write may have been lost.
      if (carriesResult(envelope, claim, status)) return { written: { envelope, status } }
      if (!carriesClaim(envelope, claim)) return {}
      latest = envelope
      if (!isSameRequest(latest, claim)) return { newer: { envelope: latest, whole } }
    } catch (error) {
      if (!(error instanceof Failure) || isFinal(error)) throw error
      lastFailure = error
    }
    await pause(wait)
  }
  throw lastFailure ?? keptChanging()
}
