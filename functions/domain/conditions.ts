import { boundedMessage } from './failure.ts'
import type { Condition, Envelope } from './resources.ts'

/** What the conditions are to say. */
export interface Reading {
  readonly ready: Condition['status']
  /** `Reconciling`: under way by itself. `Stalled`: somebody must mend something. Neither when it is done. */
  readonly besides?: 'Reconciling' | 'Stalled'
  readonly reason: string
  readonly message: string
}

/**
 * The conditions of a resource, as kstatus reads them (cli-utils, pkg/kstatus): Ready always; of Reconciling and
 * Stalled, whose presence means True, at most one, because the first that is found counts. A transition time
 * changes only with the status of its condition.
 */
export function conditionsOf(resource: Envelope, now: Date, reading: Reading): readonly Condition[] {
  const { ready, besides, reason } = reading
  const message = boundedMessage(reading.message)
  const conditions = [{ type: 'Ready', status: ready } as const]
  const more = besides === undefined ? [] : [{ type: besides, status: 'True' } as const]
  return [...conditions, ...more].map(({ type, status }) => {
    const before = resource.status?.conditions?.find((condition) => condition.type === type)
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : timestamp(now)
    const observedGeneration = resource.metadata.generation
    return { type, status, reason, message, observedGeneration, lastTransitionTime }
  })
}

/** RFC 3339 in UTC with whole seconds, as metav1.Time. */
export function timestamp(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, 'Z')
}
