import { readFile } from 'node:fs/promises'
import t from 'tap'
import { SHIPPED } from '../../bench/scale/installations.ts'
import { divide } from '../../functions/attempt/turns/shares.ts'
import { readConfig } from '../../functions/config.ts'
import { SINK_LIMITS } from '../../webhook/delivery/sink-limits.ts'
import { asked, readManifest, ROOT } from './read.ts'

/** Fields of a Knative Service that its API takes without a warning in its default configuration (measured). */
const ACCEPTED = [
  'apiVersion',
  'kind',
  'metadata.name',
  'metadata.namespace',
  'metadata.labels.*',
  'spec.template.metadata.labels.*',
  'spec.template.metadata.annotations.autoscaling.knative.dev/min-scale',
  'spec.template.metadata.annotations.autoscaling.knative.dev/max-scale',
  'spec.template.metadata.annotations.autoscaling.knative.dev/target',
  'spec.template.spec.containerConcurrency',
  'spec.template.spec.timeoutSeconds',
  'spec.template.spec.serviceAccountName',
  'spec.template.spec.enableServiceLinks',
  'spec.template.spec.containers.image',
  'spec.template.spec.containers.args',
  'spec.template.spec.containers.env.name',
  'spec.template.spec.containers.env.value',
  'spec.template.spec.containers.env.valueFrom.configMapKeyRef.name',
  'spec.template.spec.containers.env.valueFrom.configMapKeyRef.key',
  'spec.template.spec.containers.env.valueFrom.configMapKeyRef.optional',
  'spec.template.spec.containers.readinessProbe.httpGet.path',
  'spec.template.spec.containers.livenessProbe.httpGet.path',
  'spec.template.spec.containers.livenessProbe.timeoutSeconds',
  'spec.template.spec.containers.resources.requests.*',
  'spec.template.spec.containers.resources.limits.*',
  'spec.template.spec.containers.securityContext.runAsNonRoot',
  'spec.template.spec.containers.securityContext.runAsUser',
  'spec.template.spec.containers.securityContext.runAsGroup',
  'spec.template.spec.containers.securityContext.allowPrivilegeEscalation',
  'spec.template.spec.containers.securityContext.readOnlyRootFilesystem',
  'spec.template.spec.containers.securityContext.capabilities.drop',
  'spec.template.spec.containers.securityContext.seccompProfile.type',
  'spec.template.spec.containers.volumeMounts.name',
  'spec.template.spec.containers.volumeMounts.mountPath',
  'spec.template.spec.containers.volumeMounts.readOnly',
  'spec.template.spec.volumes.name',
  'spec.template.spec.volumes.emptyDir.medium',
  'spec.template.spec.volumes.emptyDir.sizeLimit',
  'spec.template.spec.volumes.secret.secretName',
  'spec.template.spec.volumes.secret.optional',
  'spec.template.spec.volumes.configMap.name',
  'spec.template.spec.volumes.configMap.optional',
]

/** Paths of all leaves; lists do not count as a level. */
function paths(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((element) => paths(element, path))
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([key, child]) => paths(child, path === '' ? key : `${path}.${key}`))
}

function isAccepted(path: string): boolean {
  return ACCEPTED.some((known) =>
    known.endsWith('*') ? path.startsWith(known.slice(0, -1)) : path === known,
  )
}

const [service, ...others] = await readManifest('knative.yaml')
const [, , webhook] = await readManifest('manifests/webhook.yaml')
const template = service.spec.template
const [container] = template.spec.containers

t.test(
  'knative.yaml is the Knative Service alone, of fields that Knative takes without a warning',
  async (t) => {
    t.same(others, [])
    t.match(service, { apiVersion: 'serving.knative.dev/v1', kind: 'Service' })
    t.same(
      paths(service).filter((path) => !isAccepted(path)),
      [],
    )
    for (const value of Object.values(template.metadata.annotations)) t.type(value, 'string')
  },
)

t.test(
  'a request may take as long as an attempt and a minute, which is the pod’s grace period as well',
  async (t) => {
    t.equal(template.spec.timeoutSeconds, readConfig({}).attemptDeadline + 60)
  },
)

t.test('the queue in front of the function does not limit what the function shares fairly', async (t) => {
  t.equal(template.spec.containerConcurrency, 0)
})

t.test('a burst of one namespace stays in one pod, and those of several spread', async (t) => {
  const annotation = (name: string): number =>
    Number(template.metadata.annotations[`autoscaling.knative.dev/${name}`])
  // Knative's default utilization is 70 percent.
  const perPod = annotation('target') * 0.7
  const { replicas } = webhook.spec
  const spread = (replicas * SINK_LIMITS.inFlight) / perPod
  t.ok(replicas * SINK_LIMITS.perNamespace < perPod)
  t.ok(spread > 2 && spread <= annotation('max-scale'), `${spread} pods`)
  const simulated = { target: 'target', minScale: 'min-scale', maxScale: 'max-scale' } as const
  for (const [name, of] of Object.entries(simulated)) t.match(SHIPPED.scaling, { [name]: annotation(of) }, of)
  t.equal(SHIPPED.webhooks, replicas)
})

t.test('only the cluster reaches the function', async (t) => {
  t.match(service.metadata.labels, { 'networking.knative.dev/visibility': 'cluster-local' })
  t.equal(template.spec.serviceAccountName, 'commitlet-function')
})

t.test('nothing slows a cold start', async (t) => {
  t.notOk('startupProbe' in container)
  t.same(container.readinessProbe, { httpGet: { path: '/health/readiness' } })
})

t.test('the function or Node reads every variable that knative.yaml sets', async (t) => {
  const names = new Set([...asked(readConfig), 'UV_THREADPOOL_SIZE'])
  for (const { name } of container.env) t.ok(names.has(name), name)
})

t.test('each session and each change that logs in can look up a name at the same moment', async (t) => {
  const threads = container.env.find(({ name }: { name: string }) => name === 'UV_THREADPOOL_SIZE')
  const pod = { memoryMiB: 64 * 1024, diskMiB: 64 * 1024, diskIsMemory: false }
  const { sessions, changes } = divide(pod, 256)
  const atOnce = sessions.held.total.count + changes.held.total.count
  t.equal(atOnce, 128)
  t.equal(threads.value, String(2 * atOnce), 'libuv gives half of them to look-ups')
})

t.test('the stamp key is where the function looks for it, and /tmp is limited memory', async (t) => {
  const key = container.env.find(({ name }: { name: string }) => name === 'STAMP_KEY_FILE').value
  const mount = container.volumeMounts.find(({ name }: { name: string }) => name === 'stamp-key')
  t.equal(key, `${mount.mountPath}/key`)
  const [tmp, stampKey, ...others] = template.spec.volumes
  t.same(stampKey.secret, { secretName: 'commitlet-stamp-key' })
  for (const { configMap, secret } of others) t.equal((configMap ?? secret).optional, true)
  t.match(tmp.emptyDir, { medium: 'Memory', sizeLimit: String })
})

t.test('what an operator may leave out is optional, and mounted where the docs say', async (t) => {
  const page = await readFile(new URL('docs/authentication.md', ROOT), 'utf8')
  for (const name of ['trust', 'default-token']) {
    const { mountPath } = container.volumeMounts.find((mount: { name: string }) => mount.name === name)
    t.match(page, `${mountPath}/`)
    const volume = template.spec.volumes.find((one: { name: string }) => one.name === name)
    t.equal((volume.secret ?? volume.configMap).optional, true, name)
  }
})
