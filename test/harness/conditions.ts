import type { Stored, Team } from './team.ts'
import { waitFor } from './wait.ts'

/** metav1.Condition as it is stored. */
export type StoredCondition = Readonly<
  Record<'type' | 'status' | 'reason' | 'message' | 'lastTransitionTime', string>
>

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

/** The resource, once its condition Ready has this reason; throws after a minute. */
export function readyFor(team: Team, name: string, reason: string, kind = 'gitcommit'): Promise<Stored> {
  const look = async (): Promise<Stored | undefined> => {
    const stored = await team.get(name, kind)
    const isSo = conditionsOf(stored).some((one) => one.type === 'Ready' && one.reason === reason)
    return isSo ? stored : undefined
  }
  return waitFor(`${reason} of ${name}`, look, 60_000)
}
