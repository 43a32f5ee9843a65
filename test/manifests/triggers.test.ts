import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import t from 'tap'
import { parseAllDocuments, stringify } from 'yaml'
import { REFERENCE_TYPES } from '../../functions/domain/event/api-server-reference.ts'
import { RESOURCE_TYPES } from '../../functions/domain/event/api-server-resource.ts'
import { PING_TYPE } from '../../functions/domain/event/ping.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { dryRun, hasKnative } from '../harness/knative-definitions.ts'
import { readManifest, ROOT } from './read.ts'

const PROJECT = new URL('.', ROOT).pathname
const FOLDER = join(PROJECT, 'manifests/triggers')
const COMPONENTS = readdirSync(FOLDER).sort()
const MIB = 1024 * 1024
const FUNCTION = {
  ref: {
    apiVersion: 'serving.knative.dev/v1',
    kind: 'Service',
    namespace: 'commitlet-system',
    name: 'commitlet-function',
  },
}

/** The documents of an installation with these components. */
async function built(
  plane: ControlPlane,
  { folder, components }: { readonly folder: string; readonly components: readonly string[] },
) {
  const root = relative(folder, PROJECT)
  const kustomization = {
    resources: [`${root}/manifests`],
    components: components.map((name) => `${root}/manifests/triggers/${name}`),
  }
  await writeFile(join(folder, 'kustomization.yaml'), stringify(kustomization))
  const { stdout } = await plane.kubectl(['kustomize', folder])
  return parseAllDocuments(stdout).map((document) => document.toJS())
}

t.test('events go to the function, and those about Secrets hold no values', async (t) => {
  for (const name of ['api-server-source', 'referenced-objects', 'ping-source']) {
    const [source] = await readManifest(`manifests/triggers/${name}/source.yaml`)
    t.strictSame(source.spec.sink, FUNCTION, name)
    const secrets = (source.spec.resources ?? []).some(({ kind }: { kind: string }) => kind === 'Secret')
    if (secrets) t.equal(source.spec.mode, 'Reference', name)
  }
  const [policy] = await readManifest('manifests/triggers/audit-webhook/audit-policy.yaml')
  const text = readFileSync(join(FOLDER, 'audit-webhook/audit-policy.yaml'), 'utf8')
  const [filled] = parseAllDocuments(text.replace(/^ {2}# (?=- level| {2})/gm, '  ')).map((one) => one.toJS())
  t.equal(filled.rules.length - policy.rules.length, 1, 'the rule in its comment')
  for (const { level, resources } of filled.rules)
    if (JSON.stringify(resources ?? []).includes('secrets')) t.equal(level, 'Metadata')
})

t.test('a list of audit events stays below what the function reads', async (t) => {
  const [{ apiServer }] = await readManifest('manifests/triggers/audit-webhook/kubeadm.yaml')
  const args = new Map<string, string>(
    apiServer.extraArgs.map(({ name, value }: { name: string; value: string }) => [name, value]),
  )
  const number = (name: string): number => Number(args.get(`audit-webhook-${name}`))
  t.equal(args.get('audit-webhook-truncate-enabled'), 'true')
  t.ok(number('batch-max-size') * number('truncate-max-event-size') < 10 * MIB)
  t.equal(number('truncate-max-batch-size'), 10 * MIB)
})

t.test('docs/triggers.md has a section for each folder, and names all types of events', async (t) => {
  const page = readFileSync(join(PROJECT, 'docs/triggers.md'), 'utf8')
  for (const name of COMPONENTS) t.ok(page.includes(`manifests/triggers/${name}`), name)
  const modes = [...RESOURCE_TYPES, ...REFERENCE_TYPES].map((type) => type.replace(/[a-z]+$/, '*'))
  for (const type of [PING_TYPE, ...modes]) t.ok(page.includes(`\`${type}\``), type)
})

withControlPlane(t, async (t, plane) => {
  t.test('with the kinds of Knative, an API server accepts each of them, strictly', async (t) => {
    if (!(await hasKnative(t, plane))) return
    const plain = await built(plane, { folder: t.testdir({}), components: [] })
    const known = new Set(plain.map((object) => stringify(object)))
    for (const name of COMPONENTS) {
      const objects = await built(plane, { folder: t.testdir({}), components: [name] })
      const changed = objects.map((object) => stringify(object)).filter((text) => !known.has(text))
      t.not(changed.length, 0, name)
      t.match(await dryRun(plane, changed.join('---\n')), { code: 0, stderr: '' }, name)
    }
  })
})
