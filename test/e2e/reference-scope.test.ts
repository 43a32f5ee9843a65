import t from 'tap'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { Team } from '../harness/installation.ts'

const REPOSITORY = 'https://git.example.com/acme/config.git'
const ELSEWHERE = [
  {
    reference: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'cluster-admin' },
    complaint:
      "spec.resourceRef.kind is ClusterRole, which is cluster-scoped, but the operator allows only objects of the resource's own namespace (REFERENCE_SCOPE); name another kind, or ask your Commitlet operator.",
  },
  {
    reference: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', namespace: 'kube-system' },
    complaint:
      'spec.resourceRef.namespace is "kube-system", but the operator allows only objects of the resource\'s own namespace (REFERENCE_SCOPE); leave it out, or ask your Commitlet operator.',
  },
] as const

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane, { webhookEnv: { REFERENCE_SCOPE: 'any' } })

  function applied(team: Team, resourceRef: object): ReturnType<Team['kubectl']> {
    const input = JSON.stringify(gitCommit('shop', REPOSITORY, { resourceRef }))
    return team.kubectl(['apply', '-f', '-'], { input, allowFailure: true })
  }

  t.test('the function refuses what is out of scope, whatever the webhook admitted', async (t) => {
    const team = await commitlet.createTeam()
    const repository = await commitlet.git.createRepository(team.namespace)
    for (const { reference, complaint } of ELSEWHERE) {
      const resourceRef = { ...reference, path: 'x.yaml' }
      await team.apply(gitCommit('shop', repository.url, { resourceRef }))
      const stored = await team.settled('shop')
      t.match(stored.status, { phase: 'Failed', attempts: 1 }, reference.kind)
      t.match(readyOf(stored), { reason: 'ReferenceForbidden', message: complaint })
    }
    t.equal(commitlet.git.requests.length, 0, 'nothing was sent')
  })

  t.test('its own namespace may be named', async (t) => {
    const team = await commitlet.createTeam()
    const repository = await commitlet.git.createRepository(team.namespace)
    const { namespace } = team
    const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', namespace, path: 'x.yaml' }
    await team.apply(configMap(), gitCommit('shop', repository.url, { resourceRef }))
    t.match((await team.settled('shop')).status, { phase: 'Succeeded' })
  })

  t.test('the webhook refuses it when it is applied', async (t) => {
    await commitlet.webhook.stop()
    await commitlet.startWebhook({ REFERENCE_SCOPE: 'namespace' })
    const team = await commitlet.createTeam()
    for (const { reference, complaint } of ELSEWHERE) {
      const { stderr } = await applied(team, { ...reference, path: 'x.yaml' })
      t.match(stderr, /^Error from server \(Forbidden\)/, reference.kind)
      t.match(stderr, `${complaint}\n`)
    }
    t.match(await team.kubectl(['get', 'gitcommits', '-o', 'name']), { stdout: /^$/ }, 'nothing is stored')
  })

  t.test('a Secret is refused when it is applied', async (t) => {
    const team = await commitlet.createTeam()
    const { stderr } = await applied(team, {
      apiVersion: 'v1',
      kind: 'Secret',
      name: 'git',
      path: 'x.yaml',
    })
    const complaint = 'is Secret, which is never committed in clear text; refer to another kind.'
    t.match(stderr, `spec.resourceRef.kind: ${complaint}\n`)
    t.match(await team.kubectl(['get', 'gitcommits', '-o', 'name']), { stdout: /^$/ }, 'nothing is stored')
  })
})
