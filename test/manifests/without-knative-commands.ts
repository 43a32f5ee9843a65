import { relative } from 'node:path'
import type { Test } from 'tap'
import { blocksOf } from '../docs/blocks.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { sample } from '../harness/sample.ts'
import { readManifest, ROOT } from './read.ts'

/** The commands of docs/install.md for clusters without Knative or an image, where all of manifests/ is installed. */
export async function tryWithoutKnative(t: Test, plane: ControlPlane): Promise<void> {
  const [, deployment] = await readManifest('overlays/without-knative/function.yaml')
  const pod = deployment.spec.template

  t.test('what docs/install.md adds to the kustomization is accepted without a warning', async (t) => {
    const [commands = ''] = await blocksOf('docs/install.md', 'sh', '## Without Knative')
    const [, line = ''] = /^echo "(.+)" >>/m.exec(commands) ?? []
    const folder = t.testdir({})
    const root = relative(folder, new URL('.', ROOT).pathname)
    const resources = [`  - ${root}/manifests`, line.replace('../$(basename "$PWD")', root)]
    t.testdir({ 'kustomization.yaml': `resources:\n${resources.join('\n')}\n` })
    for (const args of sample([['--dry-run=server', '--validate=strict'], []], () => 'way')) {
      const applied = await plane.kubectl(['apply', '-k', folder, ...args])
      t.equal(applied.stderr, '')
      t.match(applied.stdout, /deployment\.apps\/commitlet-function (serverside-applied|created)/)
      t.match(applied.stdout, 'service/commitlet-function created')
    }
  })

  t.test('its pods are accepted where both parts run', async (t) => {
    const metadata = { name: 'function-without-knative', namespace: deployment.metadata.namespace }
    const { stderr } = await plane.apply(
      `${JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec: pod.spec })}\n`,
    )
    t.equal(stderr, '')
  })

  t.test('the Service of the webhook can point to a machine outside of the cluster', async (t) => {
    const [, lead = ''] = await blocksOf('docs/install.md', 'sh', '## Without an image')
    const [, patch = ''] = /-p '(.+)'$/m.exec(lead) ?? []
    const [, slice = ''] = /<<END\n([^]*?)^END$/m.exec(lead) ?? []
    const target = ['-n', 'commitlet-system', 'patch', 'service', 'commitlet-webhook', '--type=json']
    t.match(await plane.kubectl([...target, '-p', patch]), { stderr: '' })
    t.match(await plane.apply(slice.replace('$ADDRESS', '192.0.2.10')), { stderr: '', stdout: 'created' })
  })
}
