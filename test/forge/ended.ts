import { conditionsOf, type StoredCondition } from '../harness/conditions.ts'
import type { Team } from '../harness/team.ts'
import { waitFor } from '../harness/wait.ts'

/** What says that an attempt is still to come or has not ended. */
const UNDECIDED: ReadonlySet<string> = new Set(['Pending', 'Progressing', 'Running', 'Waiting'])

/** The condition Ready after the first attempt, whether or not there is to be another one; throws after a minute. */
export function ended(team: Team, name: string, kind = 'gitcommit'): Promise<StoredCondition> {
  const look = async (): Promise<StoredCondition | undefined> => {
    const ready = conditionsOf(await team.get(name, kind)).find(({ type }) => type === 'Ready')
    return ready === undefined || UNDECIDED.has(ready.reason) ? undefined : ready
  }
  return waitFor(`end of the first attempt of ${name}`, look, 60_000)
}
