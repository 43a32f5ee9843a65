import type { Stored } from './team.ts'

/** metav1.Condition as it is stored. */
export type StoredCondition = Readonly<Record<'type' | 'status' | 'reason' | 'message', string>>

/** The condition Ready of a resource; throws where it has none. */
export function readyOf({ status }: Pick<Stored, 'status'>): StoredCondition {
  const ready = conditionsOf({ status }).find(({ type }) => type === 'Ready')
  if (ready === undefined) throw new Error('There is no condition Ready.')
  return ready
}

/** All conditions of a resource, none where it has no status yet. */
export function conditionsOf({ status }: Pick<Stored, 'status'>): readonly StoredCondition[] {
  return (status['conditions'] ?? []) as readonly StoredCondition[]
}
