import { sameJSON } from '../json-value.ts'
import { isCurrent, lapsesOf, mayPushLate, phaseUnsuspended, requestGeneration } from './attempt-state.ts'
import { isAhead } from './backoff.ts'
import { waitingConditions } from './conditions.ts'
import { latePushes, type LatePushes } from './late-push.ts'
import type { Condition, Status } from './stored-status.ts'
import type { Envelope } from './resource.ts'

/** What the status of a resource without a running attempt depends on, apart from the resource. */
export interface RestingTerms {
  /** The API server's time. */
  readonly now: Date
  /** The claim in the status, if there is one, is our own, and its attempt has ended. */
  readonly isOurs?: boolean
  /** What is known at the end of our own claim; otherwise see `mayPushLate`. */
  readonly late?: LatePushes
}

const NEVER_ATTEMPTED: Status = { observedGeneration: -1, phase: 'Pending' }

/**
 * The status of a resource for which no attempt starts, where `spec.suspend` has changed: the phase is Suspended, or again
 * what it was before, and the generation is observed. Everything else stays as it was. Undefined if nothing has to be
 * written: the status tells already, an attempt is running and tells with its result, or one is about to start.
 */
export function restingStatus(resource: Envelope, terms: RestingTerms): Status | undefined {
  const { now, isOurs = false } = terms
  const { metadata, suspended = false, status: before = NEVER_ATTEMPTED } = resource
  if (metadata.deletionTimestamp !== undefined || (isClaimed(before, now) && !isOurs)) return undefined
  const current = isCurrent(resource)
  const phase = phaseUnsuspended(before)
  if (!suspended && (!current || phase === 'Progressing' || phase === 'Pending')) return undefined
  const lapses = lapsesOf(resource)
  const { lastHandledGeneration = before.observedGeneration, latePush, latePushTo, ...rest } = before
  const late = terms.late ?? latePushes(latePush ?? mayPushLate(resource), latePushTo)
  const after: Status = {
    ...rest,
    observedGeneration: metadata.generation,
    phase: suspended ? 'Suspended' : phase,
    ...(lapses === 0 ? {} : { lapses }),
    // The phase does not tell any more that an attempt has ended without a result.
    ...latePushes(late.latePush, late.latePushTo),
    ...(current
      ? { conditions: observed(resource) }
      : { lastHandledGeneration, conditions: waitingConditions(resource, now) }),
  }
  return sameJSON(before, after) ? undefined : after
}

function isClaimed({ phase, nextAttemptTime }: Status, now: Date): boolean {
  return phase === 'Progressing' && isAhead(nextAttemptTime, now.getTime())
}

/** The conditions about this request, which are about the new generation as well; none about one that was withdrawn. */
function observed({ metadata, status }: Envelope): readonly Condition[] {
  const since = requestGeneration(metadata)
  const kept = (status?.conditions ?? []).filter(
    ({ type, reason }) => type !== 'Reconciling' || reason !== 'Suspended',
  )
  return kept.map((condition) =>
    condition.observedGeneration < since
      ? condition
      : { ...condition, observedGeneration: metadata.generation },
  )
}
