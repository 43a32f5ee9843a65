import { boundedMessage } from '../failure.ts'
import type { Condition } from './stored-status.ts'
import type { Envelope } from './resource.ts'

/** What the conditions of a resource are made from. */
export interface ConditionsInput {
  readonly ready: Condition['status']
  /** `Reconciling`: Commitlet continues automatically. `Stalled`: someone has to fix something. Left out: it is done. */
  readonly progress?: 'Reconciling' | 'Stalled'
  readonly reason: string
  readonly message: string
  /** `as before`: nothing new is known about them. Undefined: the spec has none. */
  readonly details?: DetailsResult | 'as before' | undefined
}

/** The result for the labels, reviewers and assignees of a pull request. */
export interface DetailsResult {
  readonly applied: Condition['status']
  readonly reason: 'Applied' | 'NotApplied' | 'NotOurs'
  readonly message: string
}

/**
 * The conditions of a resource, as kstatus reads them (cli-utils, pkg/kstatus). Ready is always present. Of Reconciling
 * and Stalled, whose presence means True, there is at most one, because kstatus uses the first that it finds.
 * DetailsApplied is present if something is known about the details; kstatus ignores it, so the message of Ready also
 * reports if some could not be added. A transition time changes only with the status of its condition.
 */
export function conditionsOf(resource: Envelope, now: Date, input: ConditionsInput): readonly Condition[] {
  const { ready, progress, reason, message, details } = input
  const condition = (
    type: Condition['type'],
    status: Condition['status'],
    text: ConditionText,
  ): Condition => {
    const before = find(resource, type)
    return {
      type,
      status,
      reason: text.reason,
      message: boundedMessage(text.message),
      observedGeneration: resource.metadata.generation,
      lastTransitionTime: before?.status === status ? before.lastTransitionTime : timestamp(now),
    }
  }
  const unchanged = details === 'as before' ? find(resource, 'DetailsApplied') : undefined
  return [
    condition('Ready', ready, { reason, message: isPartial(details) ? `${message} ${PARTIAL}` : message }),
    ...(progress === undefined ? [] : [condition(progress, 'True', { reason, message })]),
    ...(unchanged === undefined ? [] : [unchanged]),
    ...(details === undefined || details === 'as before'
      ? []
      : [condition('DetailsApplied', details.applied, details)]),
  ]
}

/**
 * The conditions while a request waits because the resource is suspended. Ready stays as it was, and Reconciling tells that
 * it is about an older request.
 */
export function waitingConditions(resource: Envelope, now: Date): readonly Condition[] {
  const text = { reason: 'Suspended', message: 'The request waits until spec.suspend is no longer true.' }
  const made = conditionsOf(resource, now, {
    ready: 'Unknown',
    progress: 'Reconciling',
    ...text,
    details: 'as before',
  })
  return made.map((condition) =>
    condition.type === 'Ready' ? (find(resource, 'Ready') ?? condition) : condition,
  )
}

// In parentheses: a message may end with an address, which a full stop or semicolon would become a part of.
const PARTIAL = '(not all labels, reviewers or assignees could be added: see the condition DetailsApplied)'

function isPartial(details: ConditionsInput['details']): boolean {
  return typeof details === 'object' && details.reason === 'NotApplied'
}

type ConditionText = Pick<Condition, 'reason' | 'message'>

function find(resource: Envelope, type: Condition['type']): Condition | undefined {
  return resource.status?.conditions?.find((condition) => condition.type === type)
}

/** RFC 3339 in UTC with whole seconds, as metav1.Time. */
export function timestamp(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, 'Z')
}
