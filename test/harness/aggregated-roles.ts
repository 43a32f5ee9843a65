import { isDeepStrictEqual } from 'node:util'
import type { ControlPlane } from './control-plane.ts'
import { waitFor } from './wait.ts'

const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
const DEADLINE = 30_000

/** The members of a ClusterRole of rbac.authorization.k8s.io/v1 that are read. */
interface ClusterRole {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
  readonly rules?: readonly object[] | null
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly Selector[] }
}

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>
}

/**
 * Gives every aggregated ClusterRole the rules of those that it selects by their labels, as the
 * controller-manager does, which does not run here. Call it again after adding a ClusterRole with such a label.
 */
export async function fillAggregatedRoles(plane: ControlPlane): Promise<void> {
  // Another test file may write as well: after a conflict it is read again.
  await waitFor('ClusterRoles without a conflict', () => fillOnce(plane), DEADLINE)
}

async function fillOnce({ api }: ControlPlane): Promise<true | undefined> {
  const { items } = (await api.need('GET', ROLES)) as { readonly items: readonly ClusterRole[] }
  for (const role of items) {
    const rules = rulesOf(role, items)
    if (role.aggregationRule === undefined || isDeepStrictEqual(rules, role.rules ?? [])) continue
    const { status, body } = await api.ask('PUT', `${ROLES}/${role.metadata.name}`, { ...role, rules })
    if (status === 409) return undefined
    if (status !== 200) throw new Error(`${role.metadata.name}: ${JSON.stringify(body)}`)
  }
  return true
}

function rulesOf(role: ClusterRole, all: readonly ClusterRole[]): readonly object[] {
  if (role.aggregationRule === undefined) return role.rules ?? []
  const selectors = role.aggregationRule.clusterRoleSelectors ?? []
  const selected = all.filter((other) => other !== role && selectors.some((one) => selects(one, other)))
  const rules = selected.flatMap((other) => rulesOf(other, all))
  return [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()]
}

function selects({ matchLabels = {} }: Selector, { metadata }: ClusterRole): boolean {
  return Object.entries(matchLabels).every(([label, value]) => metadata.labels?.[label] === value)
}
