import { handledGeneration, isCurrent } from '../../functions/domain/resource/attempt-state.ts'
import { PLURALS, REQUESTED_AT, REQUESTED_BY } from '../../functions/domain/resource/api-names.ts'
import { type Envelope } from '../../functions/domain/resource/resource.ts'
import { isFailureReason, REASONS } from '../../functions/domain/reasons.ts'
import type { Outcome } from '../terminal/exit-codes.ts'
import { ADVICE } from './advice.ts'

/** Why a resource is as it is. */
export interface Explanation {
  readonly outcome: Outcome
  readonly phase: string
  /** Of its condition Ready. */
  readonly reason: string | undefined
  readonly message: string
  /** Who made the last request. */
  readonly requestedBy: string | undefined
  readonly attempts: number
  /** What happens next by itself. */
  readonly next: string
  /** What to do; undefined: nothing. */
  readonly advice: string | undefined
}

/** The webhook does not look at what is being deleted, so the annotations of one may name anybody. */
const DELETED = {
  requestedBy: undefined,
  next: 'Nothing: it is being deleted, and no attempt starts.',
  advice: undefined,
}

/** A resource that no attempt has started for after this time has not been heard of. */
const HEARD_MS = 90_000

/** Explains the status. `now`: the API server's time. */
export function explain(resource: Envelope, now: Date): Explanation {
  const { status, metadata, suspended = false } = resource
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const phase = status?.phase ?? 'Pending'
  const isReady = ready?.status === 'True' && isCurrent(resource)
  const reason = ready?.reason
  const isBad = phase === 'Failed' || phase === 'Retrying' || (isFailureReason(reason) && !isReady)
  return {
    outcome: isReady ? 'good' : isBad ? 'wrong' : 'unknown',
    phase,
    reason,
    message: ready?.message ?? 'No attempt has started yet.',
    requestedBy: metadata.annotations?.[REQUESTED_BY],
    attempts: status?.attempts ?? 0,
    next: suspended ? 'Nothing is started while spec.suspend is true.' : nextOf(resource, { isReady, now }),
    advice: isReady ? undefined : adviceFor(resource, reason, now),
    ...(metadata.deletionTimestamp === undefined ? {} : DELETED),
  }
}

function nextOf(
  resource: Envelope,
  { isReady, now }: { readonly isReady: boolean; readonly now: Date },
): string {
  const { status } = resource
  if (isReady) return 'Nothing; it is done.'
  if (status === undefined || !isCurrent(resource)) {
    const before =
      status !== undefined && handledGeneration(status) >= 0 ? ' The status is about an older request.' : ''
    return `An attempt starts as soon as the function hears of it.${before}`
  }
  const { phase, nextAttemptTime } = status
  if (phase === 'Progressing') return 'An attempt is running.'
  if (phase !== 'Retrying' || nextAttemptTime === undefined)
    return 'Nothing by itself: change the spec, or request another attempt.'
  const seconds = Math.round((Date.parse(nextAttemptTime) - now.getTime()) / 1000)
  const looks = (status.waitingFor ?? []).map(({ field }) => field)
  const sooner = looks.length === 0 ? '' : `, or as soon as what ${looks.join(' and ')} names has changed`
  return `The next attempt is due at ${nextAttemptTime} (${inTime(seconds)})${sooner}.`
}

function inTime(seconds: number): string {
  if (seconds <= 0) return 'now'
  if (seconds < 120) return `in ${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `in ${minutes} min` : `in ${Math.round(minutes / 60)} h`
}

function adviceFor(resource: Envelope, reason: string | undefined, now: Date): string | undefined {
  const { appliedAt, metadata, kind } = resource
  if (isFailureReason(reason)) {
    const again = `kubectl annotate -n ${metadata.namespace} ${PLURALS[kind]} ${metadata.name} ${REQUESTED_AT}="$(date -u +%FT%TZ)" --overwrite`
    const isOver = resource.status?.phase === 'Failed' || REASONS[reason].retry === 'slow'
    return `${ADVICE[reason]}.${isOver ? ` Then, if you have not changed the spec: ${again}` : ''}`
  }
  const isHeard = resource.status?.phase === 'Progressing' || resource.suspended === true
  const age = now.getTime() - Date.parse(appliedAt ?? '')
  if (isHeard || !(age > HEARD_MS)) return undefined
  return 'It was applied more than a minute ago, and no attempt has started: the function is not reached. Ask your Commitlet operator to run commitlet doctor.'
}
