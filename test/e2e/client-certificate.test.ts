import { request } from 'node:https'
import { writeFile } from 'node:fs/promises'
import { json } from 'node:stream/consumers'
import { join } from 'node:path'
import t from 'tap'
import { elements, member } from '../../functions/domain/json-value.ts'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'

interface Answer {
  readonly status: number | undefined
  readonly body: unknown
}

/** A POST without a client certificate, as any pod can send it. */
function post(url: string, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const asked = request(
      url,
      { method: 'POST', agent: false, rejectUnauthorized: false, headers },
      (response) => {
        json(response).then((answer) => resolve({ status: response.statusCode, body: answer }), reject)
      },
    )
    asked.once('error', reject).end(JSON.stringify(body))
  })
}

/** A review of a user's own making, as the API server sends it. */
function review(namespace: string, object: object): object {
  const kind = { group: 'commitlet.dev', version: 'v1', kind: 'GitCommit' }
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u',
      kind,
      operation: 'CREATE',
      namespace,
      name: 'shop',
      userInfo: { username: 'dev' },
      object,
    },
  }
}

withControlPlane(t, async (t, plane) => {
  const CLIENT_CA_FILE = join(t.testdir({}), 'ca.crt')
  await writeFile(CLIENT_CA_FILE, plane.caPEM)
  const commitlet = await install(t, plane, { webhookEnv: { CLIENT_CA_FILE } })

  t.test('with CLIENT_CA_FILE only the API server gets an answer from the webhook', async (t) => {
    const team = await commitlet.createTeam({ developers: ['dev'] })
    const repository = await commitlet.git.createRepository(team.namespace)
    const object = gitCommit('shop', repository.url)
    for (const path of ['/mutate', '/validate']) {
      const { status, body } = await post(`${commitlet.webhook.url}${path}`, review(team.namespace, object))
      t.equal(status, 403, path)
      t.match(body, { kind: 'Status', message: /^A client certificate .* is required/ }, path)
    }
    await team.apply(configMap(), object)
    t.match(readyOf(await team.settled('shop')), { reason: 'Succeeded' })
  })

  t.test('without it a pod can get a stamp for any user, which it can put on no resource', async (t) => {
    await commitlet.webhook.stop()
    await commitlet.startWebhook({ CLIENT_CA_FILE: '' })
    const team = await commitlet.createTeam({ developers: ['dev'] })
    const object = gitCommit('shop', 'https://git.example.com/acme/config')
    const { status, body } = await post(`${commitlet.webhook.url}/mutate`, review(team.namespace, object))
    t.equal(status, 200)
    const patch: unknown = JSON.parse(
      Buffer.from(String(member(member(body, 'response'), 'patch')), 'base64').toString(),
    )
    const annotations = member(elements(patch)[0], 'value')
    t.match(annotations, { 'commitlet.dev/requested-by': 'dev', 'commitlet.dev/requester-signature': /./ })
    await team.apply({ ...object, metadata: { name: 'shop', annotations } })
    const stored = await team.get('shop')
    t.match(stored.metadata.annotations, { 'commitlet.dev/requested-by': 'admin' })
  })
})
