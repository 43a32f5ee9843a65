import type { GitRepository } from '../harness/git-repository.ts'
import { configMap } from '../harness/installation.ts'
import type { Installation, Team } from '../harness/installation.ts'
import { grant, reviewed, RULES } from '../harness/rights.ts'
import { waitFor } from '../harness/wait.ts'

/** User name of the tenant. */
export const TENANT = 'tenant'

/** A namespace in which the tenant has every right, with a repository and the ConfigMap `shop`. */
export async function stageTenant(
  commitlet: Installation,
): Promise<{ readonly team: Team; readonly repository: GitRepository }> {
  const team = await commitlet.createTeam()
  await team.apply(configMap(), ...grant('everything', TENANT, [RULES.everything]))
  const repository = await commitlet.git.createRepository(team.namespace)
  const right = { verb: 'get', resource: 'secrets', namespace: team.namespace }
  await waitFor('right', async () => (await reviewed(commitlet.plane, TENANT, right)) || undefined, 30_000)
  return { team, repository }
}

/**
 * The number of attempts that the function has made for this team, once there are so many: an attempt is in the log a
 * moment after it is in the status.
 */
export async function attemptsAt(commitlet: Installation, { namespace }: Team, least = 1): Promise<number> {
  const count = (): number =>
    commitlet.function.lines.filter((line) => line.includes('attempt ') && line.includes(namespace)).length
  await waitFor(`${least} attempts in the log`, () => (count() >= least ? true : undefined), 30_000)
  return count()
}
