import t from 'tap'
import { LOOK_MS } from '../../webhook/admission/admission.ts'
import { DECIDE_MS } from '../../webhook/admission/judgement.ts'
import { readConfig } from '../../webhook/config.ts'
import { DRAIN_MS, END_MS } from '../../webhook/webhook.ts'
import { MALLOC } from '../harness/programs.ts'
import { asked, readManifest } from './read.ts'

const manifests = await readManifest('manifests/webhook.yaml')
const [service, budget, deployment] = manifests
const { metadata, spec } = deployment.spec.template
const [container] = spec.containers
const configurations = await readManifest('manifests/webhook-configuration.yaml')
const [mutating] = configurations
const [functionService] = await readManifest('knative.yaml')

/** From the API server to the webhook and back, the TLS handshake included. */
const TRANSPORT_MS = 1_000

interface Volume {
  readonly secret: { readonly secretName: string }
}

interface Spread {
  readonly labelSelector: { readonly matchLabels: object }
}

function value(variable: string): string {
  return container.env.find(({ name }: { name: string }) => name === variable).value
}

function mountPath(secretName: string): string {
  const volume = spec.volumes.find(({ secret }: Volume) => secret.secretName === secretName)
  return container.volumeMounts.find(({ name }: { name: string }) => name === volume.name).mountPath
}

t.test('the webhook or its malloc reads every variable that its Deployment sets', async (t) => {
  const names = new Set([...asked(readConfig), ...Object.keys(MALLOC)])
  for (const { name } of container.env) t.ok(names.has(name), name)
})

t.test('what reviews came in is given back, and tests and benchmarks start it so', async (t) => {
  for (const [name, bytes] of Object.entries(MALLOC)) {
    t.equal(value(name), bytes)
    // What a connection is read in has 16 to 64 KiB.
    t.ok(Number(bytes) <= 16 * 1024)
  }
})

/** A volume of a Secret, or of something else. */
interface Mounted {
  readonly secret?: { readonly defaultMode: number }
}

t.test('certificate and stamp key are where the webhook looks for them', async (t) => {
  const { tls } = readConfig({})
  t.equal(tls.certFile, `${mountPath('commitlet-webhook-tls')}/tls.crt`)
  t.equal(tls.keyFile, `${mountPath('commitlet-webhook-tls')}/tls.key`)
  t.equal(value('STAMP_KEY_FILE'), `${mountPath('commitlet-stamp-key')}/key`)
  // 0440: the group of the pod, and nobody else.
  const modes = spec.volumes.flatMap(({ secret }: Mounted) => secret?.defaultMode ?? [])
  t.strictSame(modes, [0o440, 0o440])
})

t.test('a webhook that answers its probes late is neither ended nor left without applies', async (t) => {
  for (const { timeoutSeconds } of [container.readinessProbe, container.livenessProbe])
    t.equal(timeoutSeconds, 5)
})

t.test(
  'both parts have what they need under floods where others use all of the rest of a node',
  async (t) => {
    const { resources } = functionService.spec.template.spec.containers[0]
    t.equal(resources.requests.cpu, '500m')
    t.equal(container.resources.requests.cpu, '250m')
  },
)

t.test('Service, budget and spread select the pods of the Deployment', async (t) => {
  const selectors = [
    service.spec.selector,
    budget.spec.selector.matchLabels,
    deployment.spec.selector.matchLabels,
    ...spec.topologySpreadConstraints.map((one: Spread) => one.labelSelector.matchLabels),
  ]
  for (const selector of selectors) t.match(metadata.labels, selector)
})

t.test('the API server finds the webhook, and the webhook the function', async (t) => {
  const { name, namespace } = service.metadata
  t.match(mutating.webhooks[0].clientConfig.service, { name, namespace, port: service.spec.ports[0].port })
  t.equal(String(container.ports[0].containerPort), value('PORT'))
  const host = `${functionService.metadata.name}.${functionService.metadata.namespace}`
  t.equal(value('K_SINK'), `http://${host}.svc.cluster.local`)
})

t.test('the webhook answers before the API server gives up', async (t) => {
  for (const { webhooks } of configurations) {
    t.equal(webhooks.length, 1)
    t.ok(webhooks[0].timeoutSeconds * 1_000 >= DECIDE_MS + LOOK_MS + TRANSPORT_MS, webhooks[0].name)
  }
})

t.test('a pod that ends has time to answer, and to send the waiting events', async (t) => {
  t.ok(END_MS > DECIDE_MS + LOOK_MS + DRAIN_MS)
  const { seconds } = container.lifecycle.preStop.sleep
  // And a second for the last lines of the log.
  const needed = seconds * 1_000 + END_MS + 1_000
  t.ok(spec.terminationGracePeriodSeconds * 1_000 > needed, `${needed} ms`)
})

t.test('no pod of a tenant takes the place of one of ours on a full node', async (t) => {
  const [quota] = await readManifest('manifests/critical-pods.yaml')
  const [, function_] = await readManifest('overlays/without-knative/function.yaml')
  const [selected] = quota.spec.scopeSelector.matchExpressions
  t.match(selected, { scopeName: 'PriorityClass', operator: 'In' })
  const deployments = [deployment, function_]
  for (const one of deployments) {
    // The highest priority but that of what a node itself needs: of others with the same, none is ended.
    t.equal(one.spec.template.spec.priorityClassName, 'system-cluster-critical')
    t.ok(selected.values.includes(one.spec.template.spec.priorityClassName))
  }
  const pods = deployments.map(
    ({ spec }) => Number(spec.replicas) + Number(spec.strategy.rollingUpdate.maxSurge),
  )
  t.ok(Number(quota.spec.hard.pods) >= 2 * pods.reduce((a, b) => a + b))
})
