import { boundedMessage } from '../failure.ts'
import type { Condition, Envelope } from './resource.ts'

/** What the conditions are to say. */
export interface Reading {
  readonly ready: Condition['status']
  /** `Reconciling`: under way by itself. `Stalled`: somebody must mend something. Neither when it is done. */
  readonly besides?: 'Reconciling' | 'Stalled'
  readonly reason: string
  readonly message: string
  /** `as before`: nothing new is known of them. Undefined: there are none. */
  readonly details?: DetailsReading | 'as before' | undefined
}

/** What became of the labels, reviewers and assignees of a pull request. */
export interface DetailsReading {
  readonly applied: Condition['status']
  readonly reason: 'Applied' | 'NotApplied' | 'NotOurs'
  readonly message: string
}

/**
 * The conditions of a resource, as kstatus reads them (cli-utils, pkg/kstatus): Ready always; of Reconciling and
 * Stalled, whose presence means True, at most one, because the first that is found counts; DetailsApplied where
 * something is known of it, which kstatus does not ask for; the message of Ready says where some are not. A transition
 * time changes only with the status of its condition.
 */
export function conditionsOf(resource: Envelope, now: Date, reading: Reading): readonly Condition[] {
  const { ready, besides, reason, message, details } = reading
  const told = (type: Condition['type'], status: Condition['status'], words: Words): Condition => {
    const before = find(resource, type)
    return {
      type,
      status,
      reason: words.reason,
      message: boundedMessage(words.message),
      observedGeneration: resource.metadata.generation,
      lastTransitionTime: before?.status === status ? before.lastTransitionTime : timestamp(now),
    }
  }
  const known = details === 'as before' ? find(resource, 'DetailsApplied') : undefined
  return [
    told('Ready', ready, { reason, message: isPartial(details) ? `${message} ${PARTIAL}` : message }),
    ...(besides === undefined ? [] : [told(besides, 'True', { reason, message })]),
    ...(known === undefined ? [] : [known]),
    ...(details === undefined || details === 'as before'
      ? []
      : [told('DetailsApplied', details.applied, details)]),
  ]
}

// A message may end with an address, which no full stop or semicolon may touch.
const PARTIAL = '(not all labels, reviewers or assignees could be added: see the condition DetailsApplied)'

function isPartial(details: Reading['details']): boolean {
  return typeof details === 'object' && details.reason === 'NotApplied'
}

type Words = Pick<Condition, 'reason' | 'message'>

function find(resource: Envelope, type: Condition['type']): Condition | undefined {
  return resource.status?.conditions?.find((condition) => condition.type === type)
}

/** RFC 3339 in UTC with whole seconds, as metav1.Time. */
export function timestamp(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, 'Z')
}
