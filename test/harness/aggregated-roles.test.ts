import { randomBytes } from 'node:crypto'
import t from 'tap'
import { fillAggregatedRoles } from './aggregated-roles.ts'
import { withControlPlane } from './control-plane.ts'

withControlPlane(t, async (t, plane) => {
  const id = randomBytes(4).toString('hex')
  const [PODS, SERVICES] = ['pods', 'services'].map((plural) => ({
    verbs: ['get'],
    apiGroups: [''],
    resources: [plural],
  }))

  function roleOf(name: string, labels: object, more: object): string {
    const metadata = { name: `${name}-${id}`, labels }
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata, ...more }
    return `${JSON.stringify(role)}\n`
  }

  const selecting = (label: string): object => ({
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [`${label}-${id}`]: 'true' } }] },
  })
  const labelled = (label: string): object => ({ [`${label}-${id}`]: 'true' })

  async function rulesOf(name: string): Promise<unknown> {
    const { stdout } = await plane.kubectl(['get', 'clusterrole', `${name}-${id}`, '-o', 'json'])
    return JSON.parse(stdout).rules
  }

  t.test(
    'an aggregated role has the rules of those that it selects, through others, each once',
    async (t) => {
      await plane.apply(roleOf('outer', {}, selecting('outer')))
      await plane.apply(roleOf('inner', labelled('outer'), selecting('inner')))
      await plane.apply(roleOf('pods', { ...labelled('outer'), ...labelled('inner') }, { rules: [PODS] }))
      await plane.apply(roleOf('elsewhere', { [`outer-${id}`]: 'false' }, { rules: [SERVICES] }))
      await fillAggregatedRoles(plane)
      t.same(await rulesOf('outer'), [PODS])
      t.same(await rulesOf('inner'), [PODS])
      t.same(await rulesOf('elsewhere'), [SERVICES], 'another stays as it is')
    },
  )

  t.test('filled again, it has the rules of added roles and none of removed ones', async (t) => {
    await plane.apply(roleOf('services', labelled('inner'), { rules: [SERVICES] }))
    await plane.kubectl(['delete', 'clusterrole', `pods-${id}`])
    await fillAggregatedRoles(plane)
    t.same(await rulesOf('outer'), [SERVICES])
  })

  t.test('the default roles of Kubernetes are filled, too', async (t) => {
    await fillAggregatedRoles(plane)
    const { stdout } = await plane.kubectl(['get', 'clusterrole', 'edit', '-o', 'json'])
    t.ok(JSON.parse(stdout).rules.length > 5)
  })
})
