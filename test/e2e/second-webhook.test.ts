import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Test } from 'tap'
import { member, textMember } from '../../functions/domain/json-value.ts'
import { makeAuthority } from '../harness/certificates.ts'
import { readyOf } from '../harness/conditions.ts'
import { FILE, withControlPlane } from '../harness/control-plane.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'

/** What the other webhook does to every GitCommit that it sees. */
type Patch = readonly object[]

/** A mutating webhook of another party, which is called after Commitlet's: configurations are in alphabetical order. */
async function startAnother(t: Test, plane: ControlPlane): Promise<{ patch: Patch }> {
  const another: { patch: Patch } = { patch: [] }
  const authority = await makeAuthority()
  const { certPEM, keyPEM } = await authority.issue({ names: ['localhost'] })
  const server = createServer({ cert: certPEM, key: keyPEM }, (incoming, response) => {
    void text(incoming).then((body) => {
      const uid = textMember(member(JSON.parse(body), 'request'), 'uid')
      const patch = Buffer.from(JSON.stringify(another.patch)).toString('base64')
      const answer = { uid, allowed: true, patchType: 'JSONPatch', patch }
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(review))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: `zealot-${plane.file}`, labels: { [FILE]: plane.file } },
    webhooks: [
      {
        name: 'zealot.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        namespaceSelector: plane.file === undefined ? {} : { matchLabels: { [FILE]: plane.file } },
        rules: [
          {
            apiGroups: ['commitlet.dev'],
            apiVersions: ['v1'],
            resources: ['gitcommits'],
            operations: ['CREATE', 'UPDATE'],
          },
        ],
        clientConfig: {
          url: `https://localhost:${port}/`,
          caBundle: Buffer.from(authority.certPEM).toString('base64'),
        },
      },
    ],
  }
  await plane.apply(`${JSON.stringify(configuration)}\n`)
  return another
}

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane)
  const another = await startAnother(t, plane)

  t.test('what another webhook changes in the spec is stamped again, and succeeds', async (t) => {
    const team = await commitlet.createTeam()
    const repository = await commitlet.git.createRepository(team.namespace)
    another.patch = [{ op: 'replace', path: '/spec/message', value: 'Chosen by policy' }]
    await team.apply(configMap(), gitCommit('shop', repository.url))
    t.match(readyOf(await team.settled('shop')), { reason: 'Succeeded' })
    t.match(await repository.git('log', '-1', '--format=%s', 'main'), 'Chosen by policy')
  })

  t.test('what another webhook puts into the stamp is put back', async (t) => {
    const team = await commitlet.createTeam()
    await team.apply(configMap())
    const repository = await commitlet.git.createRepository(team.namespace)
    for (const name of ['requested-by', 'requester', 'requester-signature']) {
      const path = `/metadata/annotations/commitlet.dev~1${name}`
      another.patch = [{ op: 'add', path, value: '{"username":"root"}' }]
      await team.apply(gitCommit(`shop-${name}`, repository.url))
      const stored = await team.settled(`shop-${name}`)
      t.match(stored.metadata.annotations, { 'commitlet.dev/requested-by': 'admin' }, name)
      t.match(readyOf(stored), { status: 'True' }, name)
    }
  })
})
