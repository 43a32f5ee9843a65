import t from 'tap'
import { readConfig } from '../../functions/config.ts'
import { readManifest } from './read.ts'

// Its commands are tried in install.test.ts, on the control plane of that file.
const OVERLAY = 'overlays/without-knative'
const [service, deployment] = await readManifest(`${OVERLAY}/function.yaml`)
const [knative] = await readManifest('knative.yaml')
const [, , webhook] = await readManifest('manifests/webhook.yaml')
const pod = deployment.spec.template
const [container] = pod.spec.containers
const original = knative.spec.template.spec

t.test('the container is that of knative.yaml, with what Knative fills in', async (t) => {
  const { name, ports, lifecycle, readinessProbe, livenessProbe, ...same } = container
  const [{ readinessProbe: ready, livenessProbe: live, ...expected }, ...others] = original.containers
  t.strictSame(same, expected)
  t.strictSame(others, [])
  t.match(readinessProbe, ready)
  t.match(livenessProbe, live)
  for (const probe of [readinessProbe, livenessProbe]) t.equal(probe.httpGet.port, ports[0].name)
  t.ok(name)
  t.ok(lifecycle.preStop.sleep.seconds > 0)
})

t.test('the pod has the account, the volumes and the time to end of knative.yaml', async (t) => {
  t.strictSame(pod.spec.volumes, original.volumes)
  t.equal(pod.spec.serviceAccountName, original.serviceAccountName)
  t.equal(pod.spec.enableServiceLinks, original.enableServiceLinks)
  t.equal(pod.spec.terminationGracePeriodSeconds, original.timeoutSeconds)
})

t.test('the webhook sends its events to the Service, and the Service to the function', async (t) => {
  const sink = webhook.spec.template.spec.containers[0].env.find(
    ({ name }: { name: string }) => name === 'K_SINK',
  )
  const { name, namespace } = service.metadata
  const [port, ...others] = service.spec.ports
  t.equal(sink.value, `http://${name}.${namespace}.svc.cluster.local`)
  t.match(port, { port: 80, targetPort: container.ports[0].name })
  t.strictSame(others, [])
  t.equal(container.ports[0].containerPort, readConfig({}).port)
  t.match(pod.metadata.labels, service.spec.selector)
  t.match(pod.metadata.labels, deployment.spec.selector.matchLabels)
  t.equal(deployment.metadata.namespace, namespace)
})
