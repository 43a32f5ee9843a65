import { readFile } from 'node:fs/promises'
import { relative } from 'node:path'
import t from 'tap'
import { readConfig } from '../../functions/config.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { readManifest, ROOT } from './read.ts'

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

/** The command blocks of docs/install.md below this heading. */
async function commandsOf(heading: string): Promise<readonly string[]> {
  const [, below = ''] = (await readFile(new URL('docs/install.md', ROOT), 'utf8')).split(`\n${heading}\n`)
  const [section = ''] = below.split('\n## ')
  return [...section.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, commands]) => commands ?? '')
}

withControlPlane(
  t,
  async (t, plane) => {
    await plane.kubectl(['apply', '-k', new URL('manifests', ROOT).pathname])

    t.test('what docs/install.md adds to the kustomization is accepted without a warning', async (t) => {
      const [commands = ''] = await commandsOf('## Without Knative')
      const [, line = ''] = /^echo "(.+)" >>/m.exec(commands) ?? []
      const folder = t.testdir({})
      const root = relative(folder, new URL('.', ROOT).pathname)
      const resources = [`  - ${root}/manifests`, line.replace('../$(basename "$PWD")', root)]
      t.testdir({ 'kustomization.yaml': `resources:\n${resources.join('\n')}\n` })
      for (const args of [['--dry-run=server', '--validate=strict'], []]) {
        const applied = await plane.kubectl(['apply', '-k', folder, ...args])
        t.equal(applied.stderr, '')
        t.match(applied.stdout, /deployment\.apps\/commitlet-function (serverside-applied|created)/)
        t.match(applied.stdout, 'service/commitlet-function created')
      }
    })

    t.test('its pods are accepted where both parts run', async (t) => {
      const metadata = { name: 'function', namespace: deployment.metadata.namespace }
      const { stderr } = await plane.apply(
        `${JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec: pod.spec })}\n`,
      )
      t.equal(stderr, '')
    })

    t.test('the Service of the webhook can point to a machine outside of the cluster', async (t) => {
      const [, lead = ''] = await commandsOf('## Without an image')
      const [, patch = ''] = /-p '(.+)'$/m.exec(lead) ?? []
      const [, slice = ''] = /<<END\n([^]*?)^END$/m.exec(lead) ?? []
      const target = ['-n', 'commitlet-system', 'patch', 'service', 'commitlet-webhook', '--type=json']
      t.match(await plane.kubectl([...target, '-p', patch]), { stderr: '' })
      t.match(await plane.apply(slice.replace('$ADDRESS', '192.0.2.10')), { stderr: '', stdout: 'created' })
    })
  },
  { own: true },
)
