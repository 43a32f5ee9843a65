import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import { readConfig } from '../../webhook/config.ts'
import { buildWebhook } from '../../webhook/webhook.ts'
import type { Answered } from '../harness/admin-api.ts'
import { applierBy } from '../harness/apply.ts'
import { makeAuthority } from '../harness/certificates.ts'
import { installCommitlet, WEBHOOK_HOST } from '../harness/commitlet.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { memoryCluster } from '../harness/memory-cluster.ts'
import type { Stored } from '../harness/team.ts'
import { waitFor } from '../harness/wait.ts'
import type { SinkServer } from './stage.ts'
import { gitCommit, recordingLog, startSink } from './stage.ts'

t.test('both webhooks are called for the same operations, and only a dry run has no event', async (t) => {
  const text = await readFile(join(import.meta.dirname, '../../manifests/webhook-configuration.yaml'), 'utf8')
  const [mutating, validating] = parseAllDocuments(text).map((document) => document.toJS().webhooks[0])
  const own = { name: '', clientConfig: {}, sideEffects: '', reinvocationPolicy: '' }
  t.strictSame({ ...mutating, ...own }, { ...validating, ...own })
  t.match(mutating, { sideEffects: 'None', reinvocationPolicy: 'IfNeeded', failurePolicy: 'Fail' })
  t.match(validating, { sideEffects: 'NoneOnDryRun' })
  for (const selector of ['objectSelector', 'namespaceSelector']) t.notOk(selector in mutating)
})

/** The webhook in this process, called by a real API server. */
async function install(t: Test, plane: ControlPlane) {
  const authority = await makeAuthority()
  const dir = t.testdir({})
  const { certPEM, keyPEM } = await authority.issue({ names: [WEBHOOK_HOST] })
  const tls = { certFile: join(dir, 'tls.crt'), keyFile: join(dir, 'tls.key'), clientCAFile: undefined }
  await writeFile(tls.certFile, certPEM)
  await writeFile(tls.keyFile, keyPEM)
  const sink = await startSink()
  t.teardown(() => sink.close())
  const env = { PORT: '0', K_SINK: sink.url.href, SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' }
  const world = { cluster: memoryCluster(), log: recordingLog().log, uuid: () => crypto.randomUUID() }
  const webhook = await buildWebhook({ ...readConfig(env), tls }, world)
  const webhookPort = await webhook.listen('127.0.0.1')
  t.teardown(() => webhook.drain(0))
  await installCommitlet(plane, { webhookPort, authority })
  return { webhook, sink }
}

/** Who sends a request, of which media type, and to which subresource. */
interface Sending {
  readonly as?: string
  readonly type?: string
  readonly subresource?: string
}

interface Team {
  readonly path: string
  /** Applies the GitCommit by kubectl, to see what that prints. */
  readonly kubectlApply: (name: string, spec?: object) => ReturnType<ControlPlane['kubectl']>
  readonly apply: (name: string, metadata?: object, spec?: object) => Promise<Answered>
  readonly patch: (name: string, patch: object, sending?: Sending) => Promise<Answered>
  readonly metadata: (name: string) => Promise<Stored['metadata']>
  readonly events: (name: string) => readonly number[]
}

async function makeTeam(plane: ControlPlane, sink: SinkServer): Promise<Team> {
  const namespace = await plane.createNamespace()
  const path = `/apis/commitlet.dev/v1/namespaces/${namespace}/gitcommits`
  const applier = applierBy(plane.api)
  const objectOf = (name: string, metadata: object, spec: object) => ({
    ...gitCommit({}, { ...spec }),
    metadata: { name, namespace, ...metadata },
  })
  return {
    path,
    kubectlApply: (name, spec = {}) =>
      plane.kubectl(['apply', '-f', '-'], {
        input: JSON.stringify(objectOf(name, {}, spec)),
        allowFailure: true,
      }),
    apply: (name, metadata = {}, spec = {}) => applier.apply(objectOf(name, metadata, spec), namespace),
    patch(name, patch, { as, type = 'merge-patch', subresource } = {}) {
      const user = as === undefined ? {} : { 'impersonate-user': as, 'impersonate-group': 'system:masters' }
      const headers = { 'content-type': `application/${type}+json`, ...user }
      const place = subresource === undefined ? name : `${name}/${subresource}`
      return plane.api.ask('PATCH', `${path}/${place}`, patch, headers)
    },
    metadata: async (name) => ((await plane.api.need('GET', `${path}/${name}`)) as Stored).metadata,
    events: (name) =>
      sink.received
        .filter(({ data }) => data.namespace === namespace && data.name === name)
        .map(({ data }) => data.generation),
  }
}

const LABELLED = { metadata: { labels: { x: 'y' } } }
const BY_DEVELOPER = { as: 'developer' }

function annotated(annotations: Readonly<Record<string, string | null>>): object {
  const entries = Object.entries(annotations).map(([name, value]) => [`commitlet.dev/${name}`, value])
  return { metadata: { annotations: Object.fromEntries(entries) } }
}

const REQUESTED = annotated({ 'requested-at': '2026-01-01T00:00:00Z' })

await withControlPlane(t, async (t, plane) => {
  const { webhook, sink } = await install(t, plane)

  await t.test(
    'the user who applies is stamped, and the event has the stored uid and generation',
    async (t) => {
      const { apply, metadata } = await makeTeam(plane, sink)
      const forged = { 'commitlet.dev/requested-by': 'forged' }
      t.match(await apply('a', { annotations: forged }), { status: 201 })
      const { annotations, uid } = await metadata('a')
      t.match(annotations, {
        'commitlet.dev/requested-by': 'admin',
        'commitlet.dev/requester': /^\{"username":"admin".*system:masters/,
      })
      const arrived = () => sink.received.find(({ data }) => data.uid === uid)
      t.match((await waitFor('event', arrived, 10_000)).data, { name: 'a', generation: 1 })
    },
  )

  await t.test('kubectl prints every field error at once', async (t) => {
    const { kubectlApply } = await makeTeam(plane, sink)
    const fieldErrors = {
      repository: 'https://Git.example.com/acme/shop.git',
      message: 'Commitlet-Id: 1',
      branch: '-x',
    }
    const { code, stderr } = await kubectlApply('a', fieldErrors)
    t.not(code, 0)
    t.comment(stderr)
    t.match(stderr, /^The GitCommit "a" is invalid: \n\* spec\./)
    for (const field of ['spec.repository', 'spec.message', 'spec.branch']) t.match(stderr, `\n* ${field}: `)
    const one = await kubectlApply('a', { message: 'Commitlet-Id: 1' })
    t.comment(one.stderr)
    t.match(one.stderr, /^The GitCommit "a" is invalid: spec\.message: begins [^\n]*\.\n$/)
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'kube-system', path: 'a.yaml' }
    const forbidden = await kubectlApply('a', { resourceRef: other })
    t.comment(forbidden.stderr)
    t.match(forbidden.stderr, /^Error from server \(Forbidden\): .*spec\.resourceRef\.namespace/)
  })

  await t.test('kubectl edit shows each field error above the text, to be edited again', async (t) => {
    const { apply, metadata } = await makeTeam(plane, sink)
    await apply('a')
    const { namespace } = await metadata('a')
    const folder = t.testdir({})
    const [editor, shown] = [join(folder, 'editor'), join(folder, 'shown.yaml')]
    // The first time it makes two errors; the second time it keeps what it is shown and changes nothing.
    const fieldErrors = `s/^  message: .*/  message: 'Commitlet-Id: 1'/; s/^  branch: .*/  branch: '-x'/`
    const script = `#!/bin/sh\nif grep -q '^# .*not valid' "$1"; then cp "$1" ${shown}; else sed -i "${fieldErrors}" "$1"; fi\n`
    await writeFile(editor, script, { mode: 0o700 })
    const options = { env: { KUBE_EDITOR: editor, TMPDIR: folder }, allowFailure: true }
    const edit = ['-n', String(namespace), 'edit', 'gitcommit', 'a']
    const { code, stderr } = await plane.kubectl(edit, options)
    t.not(code, 0)
    t.comment(stderr)
    const text = await readFile(shown, 'utf8')
    t.comment(text)
    t.match(text, /^# \* spec\.message: begins line 1 with "Commitlet-"/m)
    t.match(text, /^# \* spec\.branch: /m)
  })

  await t.test('applied again or labelled, nothing is announced; another spec or request is', async (t) => {
    const { apply, patch, events, metadata } = await makeTeam(plane, sink)
    await apply('a')
    await apply('a')
    t.match(await patch('a', LABELLED, BY_DEVELOPER), { status: 200 })
    t.match(await apply('a', {}, { message: 'another' }), { status: 200 })
    t.match(await patch('a', REQUESTED, BY_DEVELOPER), { status: 200 })
    await waitFor('third event', () => events('a')[2], 10_000)
    t.strictSame(events('a'), [1, 2, 2])
    t.match((await metadata('a')).annotations, { 'commitlet.dev/requested-by': 'developer' })
  })

  await t.test('an annotation without a time causes a warning, and is no request', async (t) => {
    const { apply, patch, events } = await makeTeam(plane, sink)
    await apply('a')
    const empty = annotated({ 'requested-at': '' })
    t.match((await patch('a', empty)).warnings.join(), /commitlet\.dev\/requested-at is empty/)
    t.notMatch((await patch('a', REQUESTED)).warnings.join(), 'is empty')
    await waitFor('second event', () => events('a')[1], 10_000)
    t.match((await patch('a', empty)).warnings.join(), /commitlet\.dev\/requested-at is empty/)
  })

  await t.test('a stamp cannot be changed or taken away', async (t) => {
    const { apply, patch, metadata } = await makeTeam(plane, sink)
    await apply('a')
    const before = (await metadata('a')).annotations
    for (const change of [{ 'requested-by': 'forged' }, { requester: null }])
      t.match(await patch('a', annotated(change), BY_DEVELOPER), { status: 200 })
    t.strictSame((await metadata('a')).annotations, before)
  })

  await t.test('a dry run is stamped and not announced', async (t) => {
    const { path, apply, events } = await makeTeam(plane, sink)
    const dry = { ...gitCommit(), metadata: { name: 'dry' } }
    const stored = (await plane.api.need('POST', `${path}?dryRun=All`, dry)) as Stored
    t.match(stored.metadata.annotations, { 'commitlet.dev/requested-by': 'admin' })
    await apply('wet')
    await waitFor('event', () => events('wet')[0], 10_000)
    t.strictSame(events('dry'), [])
  })

  await t.test(
    'while the webhook is down other updates and deletion work, but no request does',
    async (t) => {
      const { path, apply, patch } = await makeTeam(plane, sink)
      await apply('a', { finalizers: ['example.com/hold'] })
      await webhook.drain(5_000)
      t.match(await patch('a', LABELLED), { status: 200 })
      const status = { status: { observedGeneration: 1, phase: 'Failed' } }
      t.match(await patch('a', status, { subresource: 'status' }), { status: 200 })
      for (const [change, type] of [
        [REQUESTED],
        [annotated({ requester: 'x' })],
        [{ spec: { message: 'y' } }],
        [[{ op: 'remove', path: '/spec' }], 'json-patch'],
      ] as const) {
        const { status, body } = await patch('a', change, type === undefined ? {} : { type })
        t.equal(status, 500)
        t.match(body, { message: /failed calling webhook "mutate.commitlet.dev"/ })
      }
      t.match(await plane.api.ask('DELETE', `${path}/a`), { status: 200 })
      t.match(await patch('a', { metadata: { finalizers: null } }), { status: 200 })
      t.match(await plane.api.ask('GET', `${path}/a`), { status: 404 }, 'it is gone')
    },
  )
})
