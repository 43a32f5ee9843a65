import type { ControlPlane } from './control-plane.ts'

/** What is read of a ClusterRole of rbac.authorization.k8s.io/v1. */
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
 * controller-manager does, which is not here. Called again after a ClusterRole with such a label has come.
 */
export async function fillAggregatedRoles(plane: ControlPlane): Promise<void> {
  const { stdout } = await plane.kubectl(['get', 'clusterroles', '-o', 'json'])
  const { items } = JSON.parse(stdout) as { readonly items: readonly ClusterRole[] }
  const filled = items
    .filter(({ aggregationRule }) => aggregationRule !== undefined)
    .map((role) => ({ ...role, rules: rulesOf(role, items) }))
  const input = filled.map((role) => JSON.stringify(role)).join('\n')
  await plane.kubectl(['replace', '-f', '-'], { input })
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
