import type { GitRepository } from '../harness/git-repository.ts'
import { configMap } from '../harness/installation.ts'
import type { Installation, Team } from '../harness/installation.ts'
import { grant, RULES, until } from '../harness/rights.ts'

/** User name of the tenant. */
export const TENANT = 'tenant'

/** A namespace in which the tenant has every right, with a repository and the ConfigMap `shop`. */
export async function stageTenant(
  commitlet: Installation,
): Promise<{ readonly team: Team; readonly repository: GitRepository }> {
  const team = await commitlet.createTeam()
  await team.apply(configMap(), ...grant('everything', TENANT, [RULES.everything]))
  const repository = await commitlet.git.createRepository(team.namespace)
  const question = ['auth', 'can-i', 'get', 'secrets', `--as=${TENANT}`]
  await until('right', () => team.kubectl(question, { allowFailure: true }), /^yes/)
  return { team, repository }
}

/** How many attempts the function has made at resources of this team. */
export function attemptsAt(commitlet: Installation, { namespace }: Team): number {
  const { lines } = commitlet.function
  return lines.filter((line) => line.includes('attempt ') && line.includes(namespace)).length
}
