import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import { parseAllDocuments, stringify } from 'yaml'
import { installObjects } from '../harness/commitlet.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { findHelm } from '../harness/helm.ts'
import { hasKnative } from '../harness/knative-definitions.ts'
import { hasOthers } from '../harness/other-definitions.ts'
import { isLong } from '../harness/sample.ts'
import { ROOT } from './read.ts'
import { podsOf, takesAll } from './variants.ts'
import type { Manifest } from './variants.ts'

const run = promisify(execFile)
const PROJECT = new URL('.', ROOT).pathname
const CHART = join(PROJECT, 'charts/commitlet')
/** What Helm adds to the manifests. */
const HELMS_OWN = [/^app\.kubernetes\.io\/(managed-by|instance|part-of)$/, /^helm\.sh\//, /^checksum\//]

/** As large as any: Helm reads the numbers of a file as floating-point ones. */
const OWN_USER = 1_999_999_999

/** Values, and the kustomization that installs the same. */
const VARIANTS: readonly {
  readonly values: object
  readonly resources: readonly string[]
  readonly components?: readonly string[]
}[] = [
  { values: {}, resources: ['manifests', 'overlays/knative'] },
  {
    values: { certificate: { from: 'cert-manager' }, function: { kind: 'deployment' } },
    resources: ['overlays/cert-manager', 'overlays/without-knative'],
  },
  {
    values: { certificate: { from: 'webhook' }, openshift: true, function: { kind: 'deployment' } },
    resources: ['manifests', 'overlays/without-knative'],
    components: ['overlays/own-certificate', 'overlays/openshift'],
  },
  {
    values: { openshift: true, reader: { allConfigMaps: false } },
    resources: ['manifests', 'overlays/knative'],
    components: ['overlays/openshift', 'overlays/configmaps-per-namespace'],
  },
  {
    values: { monitoring: { enabled: true }, function: { kind: 'none' } },
    resources: ['manifests', 'manifests/monitoring'],
  },
]

/** Each object as a text, by kind and name, without what only Helm or only kustomize writes. */
function comparable(objects: readonly Manifest[]): ReadonlyMap<string, string> {
  const plain = (object: Manifest): string => {
    const text = JSON.stringify(object, (key, value: unknown) => {
      if (!['labels', 'annotations'].includes(key)) return sorted(value)
      const kept = Object.entries(value ?? {}).filter(([name]) => !HELMS_OWN.some((own) => own.test(name)))
      return kept.length === 0 ? undefined : sorted(Object.fromEntries(kept))
    })
    return stringify(JSON.parse(text))
  }
  return new Map(objects.map((one) => [`${one.kind} ${one.metadata.name}`, plain(one)]))
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  // In the order of their names: kustomize and Helm add variables at different places.
  if (Array.isArray(value)) return value.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => a.localeCompare(b)))
}

function nameOf(value: Manifest): string {
  return String(value?.name ?? value?.mountPath ?? '')
}

async function withHelm(t: Test, helm: string): Promise<void> {
  const template = async (values: object, ...args: readonly string[]): Promise<readonly Manifest[]> => {
    const file = join(t.testdir({}), 'values.yaml')
    await writeFile(file, stringify(values))
    const given = [
      'template',
      'commitlet',
      CHART,
      '--namespace=commitlet-system',
      '--kube-version=1.36.0',
      '-f',
      file,
    ]
    const { stdout } = await run(helm, [...given, ...args], { maxBuffer: 64 * 1024 * 1024 })
    return parseAllDocuments(stdout)
      .map((document): Manifest => document.toJS())
      .filter((one) => one !== null)
  }

  t.test('helm lint finds nothing', async (t) => {
    const { stdout } = await run(helm, ['lint', '--strict', CHART])
    t.match(stdout, '0 chart(s) failed')
    t.notMatch(stdout, /\[(WARNING|ERROR)\]/)
  })

  t.test('values that the schema does not know are refused', async (t) => {
    for (const values of [
      { replicas: 2 },
      { settings: { NODE_OPTIONS: 'x' } },
      { certificate: { from: 'file' } },
      { runAsUser: 0 },
    ])
      await t.rejects(template(values), { message: /don't meet the specifications of the schema/ })
  })

  t.test('values go where they belong', async (t) => {
    const objects = await template({
      image: { repository: 'git.example.com/own', tag: '9', pullSecrets: [{ name: 'registry' }] },
      clusterDomain: 'example.internal',
      runAsUser: OWN_USER,
      crds: { install: false },
      webhook: { replicas: 3, env: [{ name: 'ANY', value: 'a' }], resources: { limits: { memory: '1Gi' } } },
      function: {
        minScale: 1,
        maxScale: 9,
        target: 600,
        timeoutSeconds: 240,
        priorityClassName: 'system-cluster-critical',
      },
      settings: { RETRY_LIMIT: 3, REFERENCE_SCOPE: 'any' },
    })
    const named = (kind: string, name: string): Manifest =>
      objects.find((one) => one.kind === kind && one.metadata.name === name)
    t.notMatch(
      objects.map(({ kind }) => kind),
      ['CustomResourceDefinition'],
    )
    t.strictSame(named('ConfigMap', 'commitlet-settings').data, { RETRY_LIMIT: '3', REFERENCE_SCOPE: 'any' })
    const webhook = named('Deployment', 'commitlet-webhook')
    const [container] = webhook.spec.template.spec.containers
    t.equal(webhook.spec.replicas, 3)
    const user = { runAsUser: OWN_USER, runAsGroup: OWN_USER }
    t.match(webhook.spec.template.spec.securityContext, { ...user, fsGroup: OWN_USER })
    t.equal(container.image, 'git.example.com/own:9')
    t.strictSame(container.resources, {
      limits: { memory: '1Gi' },
      requests: { cpu: '250m', memory: '128Mi' },
    })
    const variable = (name: string): Manifest => container.env.find((one: Manifest) => one.name === name)
    t.equal(variable('ANY').value, 'a')
    t.equal(variable('K_SINK').value, 'http://commitlet-function.commitlet-system.svc.example.internal')
    const { template: pods } = named('Service', 'commitlet-function').spec
    t.match(pods.metadata.annotations, {
      'autoscaling.knative.dev/min-scale': '1',
      'autoscaling.knative.dev/max-scale': '9',
      'autoscaling.knative.dev/target': '600',
    })
    t.equal(pods.spec.timeoutSeconds, 240)
    t.match(pods.spec.containers[0].securityContext, user)
    t.equal(pods.spec.priorityClassName, 'system-cluster-critical')
    t.strictSame(named('ServiceAccount', 'commitlet-function').imagePullSecrets, [{ name: 'registry' }])
  })

  t.test('another namespace', async (t) => {
    const objects = await template({ certificate: { from: 'webhook' } }, '--namespace=elsewhere')
    t.notMatch(JSON.stringify(objects), 'commitlet-system')
  })

  await withControlPlane(t, async (t, plane) => {
    await installObjects(plane)
    const kinds = {
      hasKnative: await hasKnative(t, plane),
      hasOthers: isLong() && (await hasOthers(t, plane)),
    }
    for (const { values, resources, components = [] } of VARIANTS) {
      t.test(`the chart installs what ${[...resources, ...components].join(', ')} do`, async (t) => {
        const objects = await template(values)
        const built = comparable(await kustomized(t, plane, { resources, components }))
        const made = comparable(objects)
        // A release is in a namespace that is there.
        const expected = [...built.keys()].filter((key) => key !== 'Namespace commitlet-system')
        t.strictSame([...made.keys()].toSorted(), expected.toSorted())
        for (const key of expected) t.equal(made.get(key), built.get(key), key)
        if (podsOf(objects).length > 0) await takesAll(t, plane, { objects, ...kinds })
      })
    }
  })
}

async function kustomized(
  t: Test,
  plane: ControlPlane,
  {
    resources,
    components,
  }: { readonly resources: readonly string[]; readonly components: readonly string[] },
): Promise<readonly Manifest[]> {
  const folder = t.testdir({})
  const root = relative(folder, PROJECT)
  const paths = (of: readonly string[]): readonly string[] => of.map((path) => `${root}/${path}`)
  const text = stringify({ resources: paths(resources), components: paths(components) })
  await writeFile(join(folder, 'kustomization.yaml'), text)
  const { stdout } = await plane.kubectl(['kustomize', folder])
  return parseAllDocuments(stdout).map((document): Manifest => document.toJS())
}

if (isLong()) {
  const helm = await findHelm({ env: process.env, say: (line) => void process.stderr.write(`${line}\n`) })
  if (typeof helm === 'string') await withHelm(t, helm)
  else t.pass('the chart with Helm', { skip: helm.missing })
} else t.pass('the chart with Helm', { skip: 'in npm run test:long' })
