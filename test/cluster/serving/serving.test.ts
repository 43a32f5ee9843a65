import t from 'tap'
import { secretAt } from '../../../functions/cluster/serving/secret-store.ts'
import { webhookTrustAt } from '../../../functions/cluster/serving/webhook-trust.ts'
import { withControlPlane } from '../../harness/control-plane.ts'
import { openAs } from '../stage.ts'

const GROUP = 'admissionregistration.k8s.io/v1'
const PLURALS = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations']

withControlPlane(t, async (t, plane) => {
  const server = openAs(plane.kubeconfig)
  const namespace = await plane.createNamespace()

  t.test('a Secret is created by one writer, and changed by whoever has read it last', async (t) => {
    const secret = secretAt(server, { namespace, name: 'own' })
    const texts = { 'tls.crt': 'a certificate', 'tls.key': 'a key' }
    t.equal(await secret.read(), undefined)
    t.match(await secret.write(texts, undefined), { texts })
    t.equal(await secret.write({ ...texts, 'tls.key': 'other' }, undefined), undefined)
    const [before, same] = [await secret.read(), await secret.read()]
    t.match(before, { texts })
    const more = { ...texts, 'next.crt': 'next' }
    t.match(await secret.write(more, before), { texts: more })
    t.equal(await secret.write(texts, same), undefined)
    t.strictSame((await secret.read())?.texts, more)
    const last = await secret.read()
    await plane.api.need('DELETE', `/api/v1/namespaces/${namespace}/secrets/own`)
    t.equal(await secret.write(texts, last), undefined, 'it was deleted')
  })

  t.test('both webhook configurations trust what was written, and keep everything else', async (t) => {
    const name = `serving-${namespace}`
    const trust = webhookTrustAt(server, name)
    t.strictSame(await trust.read(), [])
    const webhook = {
      name: 'any.example.com',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      // Of a kind that does not exist, so that nothing is reviewed.
      rules: [
        { apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['nothings'], operations: ['CREATE'] },
      ],
      clientConfig: { url: 'https://localhost:1/any' },
    }
    for (const plural of PLURALS) {
      const path = `/apis/${GROUP}/${plural}`
      await plane.api.need('POST', path, { metadata: { name }, webhooks: [webhook] })
      t.teardown(() => plane.api.ask('DELETE', `${path}/${name}`))
    }
    const pem = plane.caPEM
    const read = await trust.read()
    t.strictSame(
      read.map(({ bundles }) => bundles),
      [[''], ['']],
    )
    for (const one of read) t.equal(await trust.write(pem, one), true)
    for (const one of read) t.equal(await trust.write('', one), false, 'it was changed meanwhile')
    for (const { bundles, object } of await trust.read()) {
      t.strictSame(bundles, [pem])
      t.match(object, {
        webhooks: [{ name: webhook.name, rules: webhook.rules, clientConfig: webhook.clientConfig }],
      })
    }
  })
})

t.test('what the API server refuses is said', async (t) => {
  const refusing = async () => ({ status: 403, text: '{}' })
  await t.rejects(secretAt(refusing, { namespace: 'a', name: 'b' }).read(), {
    reason: 'ReferenceForbidden',
    message: /Secret a\/b/,
  })
  await t.rejects(webhookTrustAt(refusing, 'commitlet').read(), {
    message: /webhookconfigurations\/commitlet/,
  })
})
