import t from 'tap'
import { definition } from '../cluster/stage.ts'
import { extendReader, extendReaderBy } from '../harness/accounts.ts'
import { READER_WORKLOADS } from '../harness/commitlet.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { serveKind } from '../harness/kinds.ts'
import { gitCommit, install } from '../harness/installation.ts'
import type { Team } from '../harness/installation.ts'

const REFERENCE = { apiVersion: 'test.example.com/v1', kind: 'Octopus', name: 'ollie', path: 'it.yaml' }
const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'shop', labels: { app: 'shop' }, annotations: { note: 'kept' } },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'shop' } },
    template: {
      metadata: { labels: { app: 'shop' } },
      spec: { containers: [{ name: 'shop', image: 'registry.example.com/acme/shop:1.4.2' }] },
    },
  },
}
const DEPLOYMENT_STATUS = { replicas: 2, observedGeneration: 1, updatedReplicas: 2 }

withControlPlane(t, async (t, plane) => {
  const anywhere = { REFERENCE_SCOPE: 'any' }
  const commitlet = await install(t, plane, { functionEnv: anywhere, webhookEnv: anywhere })
  await serveKind(plane, definition('octopodes', 'Octopus', 'Namespaced'))
  await extendReaderBy(plane, READER_WORKLOADS, 'deployments.apps')
  await extendReader(plane, 'test.example.com', 'octopodes')
  await extendReader(plane, 'rbac.authorization.k8s.io', 'clusterroles')

  /** Commits the referenced object; returns the file. */
  async function commit(team: Team, resourceRef: Readonly<Record<string, string>>) {
    const repository = await commitlet.git.createRepository(team.namespace)
    await team.apply(gitCommit('shop', repository.url, { resourceRef }))
    await team.settled('shop')
    return repository.show(`main:${String(resourceRef['path'])}`)
  }

  /** Stores a custom resource, given as JSON. */
  function create(team: Team, spec: string): Promise<unknown> {
    const { apiVersion, kind, name } = REFERENCE
    const input = `{"apiVersion":"${apiVersion}","kind":"${kind}","metadata":{"name":"${name}"},"spec":${spec}}`
    return team.kubectl(['create', '-f', '-'], { input })
  }

  t.test(
    'a Deployment with the defaults of the API server, without its status and what the server adds to its metadata',
    async (t) => {
      const team = await commitlet.createTeam()
      await team.apply(DEPLOYMENT)
      const patch = JSON.stringify({ status: DEPLOYMENT_STATUS })
      await team.kubectl(['patch', 'deployment', 'shop', '--subresource=status', '--type=merge', '-p', patch])
      const { stdout } = await team.kubectl([
        'get',
        'deployment',
        'shop',
        '-o',
        'json',
        '--show-managed-fields',
      ])
      t.match(JSON.parse(stdout), { metadata: { managedFields: [{}, {}] }, status: { replicas: 2 } })
      const text = await commit(team, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        name: 'shop',
        path: 'a/d.yaml',
      })
      const head = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
  namespace: ${team.namespace}
  labels:
    app: shop
  annotations:
    note: kept
spec:
  replicas: 2
`
      t.ok(text.startsWith(head), text)
      t.match(text, '        image: registry.example.com/acme/shop:1.4.2\n')
      t.match(text, '      terminationGracePeriodSeconds: 30\n', 'a default of the API server is committed')
      t.notMatch(text, /status|managedFields|uid|resourceVersion|generation|creationTimestamp|last-applied/)
    },
  )

  t.test('a custom resource keeps digit-like keys in their order, 64-bit integers and depth', async (t) => {
    const team = await commitlet.createTeam()
    await create(
      team,
      `{"10":"ten","9":"nine","07":7,"big":9007199254740993,"least":-9223372036854775808,
          "deep":{"a":[{"b":{"c":[[1,[2]],{}]}}]},"text":"One\\n  Two\\n\\nThree","when":"12:30:45","nothing":null}`,
    )
    const text = await commit(team, REFERENCE)
    t.equal(
      text,
      `apiVersion: test.example.com/v1
kind: Octopus
metadata:
  name: ollie
  namespace: ${team.namespace}
spec:
  "07": 7
  "10": ten
  "9": nine
  big: 9007199254740993
  deep:
    a:
    - b:
        c:
        - - 1
          - - 2
        - {}
  least: -9223372036854775808
  nothing: null
  text: |-
    One
      Two

    Three
  when: "12:30:45"
`,
    )
  })

  t.test('a ClusterRole, which has no namespace', async (t) => {
    const team = await commitlet.createTeam()
    const name = `reader-${team.namespace}`
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }]
    await plane.apply(
      `${JSON.stringify({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules })}\n`,
    )
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      name,
      path: 'role.yaml',
    }
    const text = await commit(team, role)
    t.equal(
      text,
      `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: ${name}
rules:
- verbs:
  - get
  - list
  apiGroups:
  - ""
  resources:
  - pods
`,
    )
  })
})
