import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ControlPlane } from '../harness/control-plane.ts'
import { waitFor } from '../harness/wait.ts'
import type { Sources } from './lab-build.ts'
import { QUEUE_IMAGE } from './node/images.ts'

const DEADLINE_MS = 120_000
/** The registry of our manifests cannot be asked for the digest of a tag: there is none. */
const UNRESOLVED = 'kind.local,ko.local,dev.local,registry.example.com'
const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1'
const WEBHOOKS = [
  'mutatingwebhookconfigurations/webhook.serving.knative.dev',
  'validatingwebhookconfigurations/validation.webhook.serving.knative.dev',
  'validatingwebhookconfigurations/config.webhook.serving.knative.dev',
]

/** Installs Knative Serving by its own manifests; ready before this resolves. */
export async function installKnative(plane: ControlPlane, sources: Sources): Promise<void> {
  const core = join(sources.serving, 'config/core')
  const networking = ['certificate', 'domain-claim', 'ingress', 'serverlessservice'].map((name) =>
    join(sources.networking, 'config', `${name}.yaml`),
  )
  const definitions = [...(await filesIn(core, '300-resources')), ...networking]
  await apply(plane, [join(core, '100-namespace.yaml')])
  await apply(plane, [...definitions, join(sources.caching, 'config/image.yaml')])
  const names = (await plane.kubectl(['get', 'crd', '-o', 'name'])).stdout.trim().split('\n')
  await plane.kubectl(['wait', '--for=condition=Established', '--timeout=60s', ...names])
  await apply(plane, [join(core, '200-serviceaccount.yaml'), ...(await filesIn(core, '200-roles'))])
  const network = join(sources.networking, 'config/config-network.yaml')
  await apply(plane, [...(await filesIn(core, 'configmaps')), network])
  const data = { 'queue-sidecar-image': QUEUE_IMAGE, 'registries-skipping-tag-resolving': UNRESOLVED }
  const patch = JSON.stringify({ data })
  await plane.kubectl([
    '-n',
    'knative-serving',
    'patch',
    'configmap/config-deployment',
    '--type=merge',
    '-p',
    patch,
  ])
  await apply(plane, await filesIn(core, 'webhooks'))
  const programs = ['activator', 'autoscaler', 'controller', 'webhook']
  await apply(
    plane,
    programs.map((name) => join(core, 'deployments', `${name}.yaml`)),
  )
  await plane.kubectl([
    ...['-n', 'knative-serving', 'wait', '--for=condition=Available', '--timeout=100s'],
    ...programs.map((name) => `deployment/${name}`),
  ])
  for (const path of WEBHOOKS) await waitFor(`caBundle of ${path}`, () => isTrusted(plane, path), DEADLINE_MS)
}

async function filesIn(folder: string, name: string): Promise<readonly string[]> {
  const files: string[] = []
  for await (const file of glob(`${name}/*.yaml`, { cwd: folder })) files.push(join(folder, file))
  return files.sort()
}

async function apply(plane: ControlPlane, files: readonly string[]): Promise<void> {
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  const input = texts.join('\n---\n')
  await plane.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], { input })
}

async function isTrusted(plane: ControlPlane, path: string): Promise<true | undefined> {
  const { webhooks } = (await plane.api.need('GET', `${CONFIGURATIONS}/${path}`)) as {
    readonly webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[]
  }
  return webhooks.every(({ clientConfig }) => (clientConfig.caBundle ?? '') !== '') || undefined
}
