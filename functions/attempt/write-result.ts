import { setTimeout as pause } from 'node:timers/promises'
import { CONFLICT } from '../cluster/cluster.ts'
import { carriesClaim, requestedAt } from '../domain/resource/attempt-state.ts'
import { envelopeOf, refOf } from '../domain/resource/envelope.ts'
import { Failure } from '../domain/failure.ts'
import type { Envelope, Status } from '../domain/resource/resource.ts'
import type { Outcome } from '../domain/resource/status.ts'
import { failed, succeeded } from '../domain/resource/status.ts'
import type { Found } from './find.ts'
import type { World } from '../world.ts'

/** Pauses between tries to write: together less than the margin that a claim has over the deadline. */
const PAUSES_MS = [50, 100, 200, 400, 800, 1_600, 3_200] as const

/** What became of a result: written, or overtaken by a newer generation, or by another owner (neither). */
export interface WrittenResult {
  readonly written?: { readonly envelope: Envelope; readonly status: Status }
  /** The resource with a newer generation or requested-at that came while our claim held others off. */
  readonly newer?: Found
}

/**
 * Writes the result of an attempt: one patch. On a conflict it reads again; it never writes over another uid,
 * another generation or another attempt's claim. Throws a Failure where the API server did not take it in time.
 */
export async function writeResult(
  claim: Envelope,
  result: Outcome | Failure,
  world: World,
): Promise<WrittenResult> {
  const { limit, random } = { limit: world.settings.retryLimit, random: world.random() }
  let refused: Failure | undefined
  let seen = claim
  for (const wait of PAUSES_MS) {
    try {
      const now = world.now()
      const status =
        result instanceof Failure
          ? failed(seen, result, { now, limit, random })
          : succeeded(seen, result, now)
      const stored = await world.cluster.patchStatus(seen, status)
      if (stored !== CONFLICT) return { written: { envelope: envelopeOf(stored), status } }
      const whole = await world.cluster.readResource(refOf(claim))
      if (whole === undefined || !carriesClaim(envelopeOf(whole), claim)) return {}
      seen = envelopeOf(whole)
      if (!sameRequest(seen, claim)) return { newer: { envelope: seen, whole } }
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      refused = error
    }
    await pause(wait)
  }
  throw refused ?? new Failure('Conflict', 'Other writers kept changing the resource; it is tried again.')
}

function sameRequest(one: Envelope, other: Envelope): boolean {
  const [is, was] = [requestedAt(one), requestedAt(other)]
  return one.metadata.generation === other.metadata.generation && (is === undefined || is === was)
}
