import { readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { parseAllDocuments, stringify } from 'yaml'
import { installObjects } from '../harness/commitlet.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { hasKnative } from '../harness/knative-definitions.ts'
import { hasOthers } from '../harness/other-definitions.ts'
import { isLong, sample } from '../harness/sample.ts'
import { ROOT } from './read.ts'
import { podsOf, takesAll } from './variants.ts'
import type { Manifest } from './variants.ts'

const PROJECT = new URL('.', ROOT).pathname
const BASES = ['manifests', 'overlays/cert-manager']
const FUNCTIONS = ['overlays/knative', 'overlays/without-knative']
const OWN = 'overlays/own-certificate'
const OPENSHIFT = 'overlays/openshift'
const COMPONENTS = [[], [OWN], [OPENSHIFT], ['overlays/configmaps-per-namespace'], [OWN, OPENSHIFT]]

const VARIANTS = BASES.flatMap((base) =>
  FUNCTIONS.flatMap((of) => COMPONENTS.map((components) => ({ resources: [base, of], components }))),
)
  // Two ways to a certificate.
  .filter(({ resources, components }) => !(resources[0] !== 'manifests' && components.includes(OWN)))
const ADDITIONS = [
  { resources: ['manifests', 'overlays/knative', 'manifests/monitoring'], components: [] },
  { resources: ['manifests', 'overlays/knative'], components: ['manifests/triggers/api-server-source'] },
  { resources: ['manifests', 'overlays/knative'], components: ['manifests/scale/more-pods', OPENSHIFT] },
]

interface Variant {
  readonly resources: readonly string[]
  readonly components: readonly string[]
}

async function built(
  t: Test,
  plane: ControlPlane,
  { resources, components }: Variant,
  more = '',
): Promise<readonly Manifest[]> {
  const folder = t.testdir({})
  const root = relative(folder, PROJECT)
  const paths = (of: readonly string[]): readonly string[] => of.map((path) => `${root}/${path}`)
  const kustomization = { resources: paths(resources), components: paths(components) }
  await writeFile(join(folder, 'kustomization.yaml'), `${stringify(kustomization)}${more}`)
  const { stdout } = await plane.kubectl(['kustomize', folder])
  return parseAllDocuments(stdout).map((document): Manifest => document.toJS())
}

withControlPlane(t, async (t, plane) => {
  await installObjects(plane)
  const kinds = { hasKnative: await hasKnative(t, plane), hasOthers: isLong() && (await hasOthers(t, plane)) }

  const drawn = sample([...VARIANTS, ...ADDITIONS], ({ components }) =>
    components.includes(OPENSHIFT) ? 'OpenShift' : 'others',
  )
  for (const variant of drawn) {
    const { resources, components } = variant
    t.test(`the API server takes it strictly: ${[...resources, ...components].join(', ')}`, async (t) => {
      const objects = await built(t, plane, variant)
      await takesAll(t, plane, { objects, ...kinds })
    })
  }

  t.test('with its own certificate, the webhook waits for no Secret of it, and may write it', async (t) => {
    const objects = await built(t, plane, { resources: ['manifests'], components: [OWN] })
    const [{ spec } = { spec: undefined }] = podsOf(objects)
    const { env, volumeMounts } = spec.containers[0]
    t.match(
      env.find(({ name }: Manifest) => name === 'TLS_SECRET'),
      { value: 'commitlet-webhook-certificate' },
    )
    for (const { name } of [...volumeMounts, ...spec.volumes]) t.not(name, 'tls')
    t.equal(spec.volumes.length, 2, 'the others stay')
    const named = (kind: string): Manifest =>
      objects.find((one) => one.kind === kind && one.metadata.name === 'commitlet-webhook-certificate')
    t.strictSame(named('Role').rules[1].resourceNames, ['commitlet-webhook-certificate'])
    t.strictSame(named('ClusterRole').rules[0].resourceNames, ['commitlet'])
  })

  t.test('what docs/install.md says to put into the kustomization stays there', async (t) => {
    const page = await readFile(new URL('docs/install.md', ROOT), 'utf8')
    const [, section = ''] = page.split('\n### Changes that stay\n')
    const [, yaml = ''] = /^```yaml\n([^]*?)^```$/m.exec(section) ?? []
    const objects = await built(t, plane, { resources: ['manifests'], components: [] }, yaml)
    const settings = objects.find(
      ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'commitlet-settings',
    )
    t.strictSame(Object.keys(settings.data), ['ALLOWED_REPOSITORIES', 'LOG_LEVEL'])
    t.equal(settings.metadata.namespace, 'commitlet-system')
    const [{ spec } = { spec: undefined }] = podsOf(objects)
    const sinks = spec.containers[0].env.filter(({ name }: Manifest) => name === 'K_SINK')
    t.match(sinks, [{ value: /svc\.example\.internal$/ }])
    await takesAll(t, plane, { objects, ...kinds })
  })

  t.test('on OpenShift, no pod chooses its user or its groups', async (t) => {
    for (const of of FUNCTIONS) {
      const objects = await built(t, plane, { resources: ['manifests', of], components: [OPENSHIFT] })
      const pods = podsOf(objects)
      t.equal(pods.length, 2)
      t.notMatch(JSON.stringify(pods), /runAsUser|runAsGroup|fsGroup/)
      t.match(JSON.stringify(pods), /"runAsNonRoot":true.*"runAsNonRoot":true/)
    }
  })
})
