import { CONFLICT } from './cluster/cluster.ts'
import { envelopeOf, refOf } from './domain/envelope.ts'
import { Failure } from './domain/failure.ts'
import type { Envelope } from './domain/resources.ts'
import { claimed, mayHavePushed, mayStart } from './domain/status.ts'
import type { Found } from './find.ts'
import type { World } from './world.ts'

/** How often a write is tried because somebody else changed the resource meanwhile. */
const TRIES = 8

/** A resource that carries our claim. */
export interface Claim extends Found {
  /** An earlier attempt at this generation and requested-at may have pushed already. */
  readonly again: boolean
}

/**
 * Claims the resource by writing Progressing, guarded by the resourceVersion that was read, so that one attempt
 * gets it however many try. Undefined where it is gone or no longer to be started. `heldBefore` is our own claim
 * that a newer generation ends: it does not hold us off.
 */
export async function claim(found: Found, world: World, heldBefore?: Envelope): Promise<Claim | undefined> {
  let seen = found
  for (let tries = 0; tries < TRIES; tries += 1) {
    const ours = heldBefore !== undefined && carriesClaim(seen.envelope, heldBefore)
    if (seen.envelope.metadata.deletionTimestamp !== undefined) return undefined
    if (!ours && !mayStart(seen.envelope, world.now())) return undefined
    const status = claimed(seen.envelope, world.now(), world.settings.attemptDeadline)
    const stored = await world.cluster.patchStatus(seen.envelope, status)
    if (stored !== CONFLICT) {
      return { envelope: envelopeOf(stored), whole: stored, again: mayHavePushed(seen.envelope) }
    }
    const whole = await world.cluster.readResource(refOf(seen.envelope))
    if (whole === undefined) return undefined
    seen = { envelope: envelopeOf(whole), whole }
  }
  throw new Failure('Conflict', 'Other writers kept changing the resource; it is tried again.')
}

/** Does the stored resource still carry this very claim, or has another attempt taken over? */
export function carriesClaim(stored: Envelope, claim: Envelope): boolean {
  const [is, was] = [stored.status, claim.status]
  if (stored.metadata.uid !== claim.metadata.uid || is?.phase !== 'Progressing') return false
  return is.lastAttemptTime === was?.lastAttemptTime && is.attempts === was?.attempts
}
