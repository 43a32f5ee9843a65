import t from 'tap'
import { accessReviews } from '../../functions/cluster/access-review.ts'
import { accessTo } from '../../functions/domain/gate/access.ts'
import type { Access } from '../../functions/domain/gate/access.ts'
import { serviceAccount } from '../../functions/domain/requester/user-info.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { waitFor } from '../harness/wait.ts'
import { openAs } from './stage.ts'

const RBAC = 'rbac.authorization.k8s.io'
const SECRETS = { plural: 'secrets', namespaced: true }
const CLUSTER_ROLES = { plural: 'clusterroles', namespaced: false }

/** A Role or ClusterRole with one rule, and its binding to a user or group of the same name as the role. */
function grant(
  kind: 'Role' | 'ClusterRole',
  rule: object,
  subject: { kind: 'User' | 'Group'; name: string },
): object[] {
  const name = subject.name.replaceAll(':', '.')
  const apiVersion = `${RBAC}/v1`
  return [
    { apiVersion, kind, metadata: { name }, rules: [rule] },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata: { name },
      roleRef: { apiGroup: RBAC, kind, name },
      subjects: [{ apiGroup: RBAC, ...subject }],
    },
  ]
}

withControlPlane(t, async (t, plane) => {
  const server = openAs(plane.kubeconfig)
  // A clock that runs ahead: nothing is remembered, each review goes to the API server.
  let now = 0
  const ask = accessReviews(server, () => (now += 60_000))
  const namespace = await plane.createNamespace()
  const secret = (verb: Access['verb'], name: string, place = namespace): Access =>
    accessTo(verb, SECRETS, { apiVersion: 'v1', namespace: place, name })
  const clusterRole = accessTo('get', CLUSTER_ROLES, { apiVersion: `${RBAC}/v1`, namespace, name: 'view' })
  const get = { apiGroups: [''], resources: ['secrets'], resourceNames: ['git'], verbs: ['get'] }
  const getRoles = { apiGroups: [RBAC], resources: ['clusterroles'], verbs: ['get'] }
  const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }
  const accounts = `system:serviceaccounts:${namespace}`
  const reader = `reader-of-${namespace}`
  const objects = [
    ...grant('Role', { ...get, verbs: ['use'] }, { kind: 'User', name: 'user-of-git' }),
    ...grant('Role', get, { kind: 'User', name: 'getter-of-git' }),
    ...grant('Role', everything, { kind: 'User', name: 'tenant' }),
    ...grant('Role', { ...get, resourceNames: ['deploy'] }, { kind: 'Group', name: accounts }),
    ...grant('ClusterRole', getRoles, { kind: 'User', name: reader }),
  ]
  const input = objects.map((object) => JSON.stringify(object)).join('\n')
  await plane.kubectl(['apply', '-n', namespace, '-f', '-'], { input })
  t.teardown(() => plane.kubectl(['delete', 'clusterrole,clusterrolebinding', reader]))
  const last = async (): Promise<true | undefined> =>
    (await ask({ username: reader }, clusterRole)) || undefined
  await waitFor('the last of the rights', last, 30_000)

  const account = serviceAccount(namespace, 'commitlet')
  for (const [title, user, access, allowed] of [
    ['who may use a Secret may use it', 'user-of-git', secret('use', 'git'), true],
    ['who may use a Secret may not get it', 'user-of-git', secret('get', 'git'), false],
    ['who may use one Secret may not use another', 'user-of-git', secret('use', 'other'), false],
    ['who may use a Secret here may not elsewhere', 'user-of-git', secret('use', 'git', 'default'), false],
    ['who may get a Secret may get it, be it there or not', 'getter-of-git', secret('get', 'git'), true],
    ['who may get a Secret may not use it by that', 'getter-of-git', secret('use', 'git'), false],
    ['who may do everything in a namespace may use its Secrets', 'tenant', secret('use', 'any'), true],
    ['who may do everything in a namespace may get nothing of the cluster', 'tenant', clusterRole, false],
    ['who may get what belongs to the cluster may get it', reader, clusterRole, true],
    ['who is not known may do nothing', 'nobody', secret('use', 'git'), false],
  ] as const) {
    t.test(title, async (t) => t.equal(await ask({ username: user }, access), allowed))
  }

  t.test('a cluster-scoped review with a namespace would be decided by the Roles there', async (t) => {
    t.equal(await ask({ username: 'tenant' }, { ...clusterRole, namespace }), true)
  })

  t.test('the groups of a service account count', async (t) => {
    t.equal(await ask(account, secret('get', 'deploy')), true)
    t.equal(await ask({ username: account.username }, secret('get', 'deploy')), false)
    t.equal(await ask(serviceAccount('default', 'commitlet'), secret('get', 'deploy')), false)
  })

  t.test('uid and extra of a user are taken, of any key', async (t) => {
    const extra = {
      'scopes.authorization.openshift.io': ['user:full'],
      'authentication.kubernetes.io/pod-name': ['x'],
    }
    t.equal(await ask({ username: 'tenant', uid: 'u-1', groups: [], extra }, secret('use', 'git')), true)
  })

  t.test('a right that is revoked is gone, and one that is granted is there', async (t) => {
    const remembering = accessReviews(server, Date.now)
    const user = { username: 'user-of-git' }
    const may = (): Promise<boolean> => remembering(user, secret('use', 'git'))
    t.equal(await may(), true)
    await plane.kubectl(['delete', 'rolebinding', 'user-of-git', '-n', namespace])
    await waitFor('the right to be gone', async () => ((await may()) ? undefined : true), 30_000)
    const [, binding] = grant('Role', get, { kind: 'User', name: 'user-of-git' })
    await plane.kubectl(['apply', '-n', namespace, '-f', '-'], { input: JSON.stringify(binding) })
    await waitFor('the right to be back', async () => (await may()) || undefined, 30_000)
  })

  t.test('an account that may not ask learns which right is missing', async (t) => {
    const restricted = accessReviews(openAs(await plane.kubeconfigFor({ name: 'restricted' })), Date.now)
    await t.rejects(restricted(account, clusterRole), {
      name: 'Failure',
      reason: 'ReferenceForbidden',
      retry: 'slow',
      message: /may not create subjectaccessreviews/,
    })
  })
})
