import { request } from 'node:https'
import t from 'tap'
import { installObjects } from '../harness/commitlet.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { waitFor } from '../harness/wait.ts'

const RESOURCES = ['gitcommit', 'pullrequest']
const CLAIM = JSON.stringify({ status: { attempts: 3 } })

const repository = 'https://git.example.com/acme/config.git'
const credentials = { secretName: 'git-credentials', tokenKey: 'token' }
const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: 'shop.yaml' }
const OBJECTS = [
  { kind: 'GitCommit', spec: { repository, credentials, message: 'Record the shop', resourceRef } },
  {
    kind: 'PullRequest',
    spec: { repository, credentials, headBranch: 'shop', baseBranch: 'main', title: 'The shop' },
  },
]

withControlPlane(t, async (t, plane) => {
  await installObjects(plane)
  const namespace = await plane.createNamespace()
  const text = OBJECTS.map((object) =>
    JSON.stringify({ apiVersion: 'commitlet.dev/v1', metadata: { name: 'shop', namespace }, ...object }),
  )
  await plane.apply(`${text.join('\n')}\n`)
  const patch = (kind: string, kubeconfig = plane.kubeconfig) =>
    plane.kubectl(
      ['patch', kind, 'shop', '-n', namespace, '--subresource=status', '--type=merge', '-p', CLAIM],
      { allowFailure: true, kubeconfig },
    )

  t.test('a tenant with every right in their namespace cannot write a status', async (t) => {
    const tenant = await plane.kubeconfigFor({ name: 'tenant' })
    await plane.kubectl(['-n', namespace, 'create', 'role', 'all', '--verb=*', '--resource=*.*'])
    await plane.kubectl(['-n', namespace, 'create', 'rolebinding', 'all', '--role=all', '--user=tenant'])
    for (const kind of RESOURCES) {
      // The API server learns of the policy and of the binding a moment after they are stored.
      const refused = await waitFor(
        'refusal',
        async () => {
          const { stderr } = await patch(kind, tenant)
          return stderr.includes('ValidatingAdmissionPolicy') ? stderr : undefined
        },
        30_000,
      )
      t.match(refused, `The status of ${kind}s is written by Commitlet alone`)
      const read = await plane.kubectl(['get', kind, 'shop', '-n', namespace, '-o', 'json'])
      const forged = { ...JSON.parse(read.stdout), status: { observedGeneration: 1, phase: 'Succeeded' } }
      const replaced = await plane.kubectl(['replace', '-n', namespace, '--subresource=status', '-f', '-'], {
        input: JSON.stringify(forged),
        allowFailure: true,
        kubeconfig: tenant,
      })
      t.match(replaced.stderr, 'is written by Commitlet alone')
    }
  })

  t.test('the tenant can write everything else of their resources', async (t) => {
    const kubeconfig = await plane.kubeconfigFor({ name: 'tenant' })
    for (const kind of RESOURCES) {
      const { code } = await plane.kubectl(['label', kind, 'shop', '-n', namespace, 'a=b'], { kubeconfig })
      t.equal(code, 0)
    }
  })

  t.test('a cluster administrator can', async (t) => {
    for (const kind of RESOURCES) t.match(await patch(kind), { code: 0 })
  })

  t.test('the function can, with its own account', async (t) => {
    const account = ['commitlet-function', '-n', 'commitlet-system']
    const token = (await plane.kubectl(['create', 'token', ...account])).stdout.trim()
    for (const kind of RESOURCES) {
      const path = `/apis/commitlet.dev/v1/namespaces/${namespace}/${kind}s/shop/status`
      t.equal(await sendPatch(plane, path, token), 200)
    }
  })
})

/** kubectl reads before it patches, which the function may not do with /status; so without kubectl. */
function sendPatch(plane: ControlPlane, path: string, token: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/merge-patch+json' }
  return new Promise((resolve, reject) => {
    request(`${plane.url}${path}`, { method: 'PATCH', ca: plane.caPEM, headers }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode))
    })
      .on('error', reject)
      .end(CLAIM)
  })
}
