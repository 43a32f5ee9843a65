import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import { readConfig } from '../../webhook/config.ts'
import { buildWebhook } from '../../webhook/webhook.ts'
import { makeAuthority } from '../harness/certificates.ts'
import { installCommitlet, WEBHOOK_HOST } from '../harness/commitlet.ts'
import type { ControlPlane, RunOptions } from '../harness/control-plane.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { memoryCluster } from '../harness/memory-cluster.ts'
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

interface Team {
  readonly sink: SinkServer
  readonly namespace: string
  readonly kubectl: (args: readonly string[], options?: RunOptions) => ReturnType<ControlPlane['kubectl']>
  readonly create: (
    name: string,
    changes?: Readonly<Record<string, unknown>>,
    spec?: object,
  ) => ReturnType<ControlPlane['kubectl']>
  readonly annotations: (name: string) => Promise<Readonly<Record<string, string>>>
  readonly events: (name: string) => readonly number[]
}

async function makeTeam(plane: ControlPlane, sink: SinkServer): Promise<Team> {
  const namespace = await plane.createNamespace()
  const kubectl: Team['kubectl'] = (args, options) => plane.kubectl(['-n', namespace, ...args], options)
  return {
    sink,
    namespace,
    kubectl,
    create: (name, changes = {}, spec = {}) => {
      const object = { ...gitCommit({}, { ...spec }), metadata: { name, namespace, ...changes } }
      return kubectl(['apply', '-f', '-'], { input: JSON.stringify(object), allowFailure: true })
    },
    annotations: async (name) => {
      const { stdout } = await kubectl(['get', 'gitcommit', name, '-o', 'json'])
      return JSON.parse(stdout).metadata.annotations
    },
    events: (name) =>
      sink.received
        .filter(({ data }) => data.namespace === namespace && data.name === name)
        .map(({ data }) => data.generation),
  }
}

const REQUESTED_AT = 'commitlet.dev/requested-at=2026-01-01T00:00:00Z'

await withControlPlane(
  t,
  async (t, plane) => {
    const { webhook, sink } = await install(t, plane)
    const developer = await plane.kubeconfigFor({
      name: 'developer',
      groups: ['system:masters', 'developers'],
    })

    await t.test(
      'the user who applies is stamped, and the event has the stored uid and generation',
      async (t) => {
        const { create, annotations, kubectl } = await makeTeam(plane, sink)
        t.match(await create('a', { annotations: { 'commitlet.dev/requested-by': 'forged' } }), { code: 0 })
        t.match(await annotations('a'), {
          'commitlet.dev/requested-by': 'admin',
          'commitlet.dev/requester': /^\{"username":"admin".*system:masters/,
        })
        const { stdout } = await kubectl(['get', 'gitcommit', 'a', '-o', 'jsonpath={.metadata.uid}'])
        const { data } = await waitFor(
          'event',
          () => sink.received.find(({ data }) => data.uid === stdout),
          10_000,
        )
        t.match(data, { name: 'a', generation: 1 })
      },
    )

    await t.test('kubectl prints every field error at once', async (t) => {
      const { create } = await makeTeam(plane, sink)
      const fieldErrors = {
        repository: 'https://Git.example.com/acme/shop.git',
        message: 'Commitlet-Id: 1',
        branch: '-x',
      }
      const { code, stderr } = await create('a', {}, fieldErrors)
      t.not(code, 0)
      t.comment(stderr)
      t.match(stderr, /^The GitCommit "a" is invalid: \n\* spec\./)
      for (const field of ['spec.repository', 'spec.message', 'spec.branch'])
        t.match(stderr, `\n* ${field}: `)
      const one = await create('a', {}, { message: 'Commitlet-Id: 1' })
      t.comment(one.stderr)
      t.match(one.stderr, /^The GitCommit "a" is invalid: spec\.message: begins [^\n]*\.\n$/)
      const other = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: 'a',
        namespace: 'kube-system',
        path: 'a.yaml',
      }
      const forbidden = await create('a', {}, { resourceRef: other })
      t.comment(forbidden.stderr)
      t.match(forbidden.stderr, /^Error from server \(Forbidden\): .*spec\.resourceRef\.namespace/)
    })

    await t.test('kubectl edit shows each field error above the text, to be edited again', async (t) => {
      const { create, kubectl } = await makeTeam(plane, sink)
      await create('a')
      const folder = t.testdir({})
      const [editor, shown] = [join(folder, 'editor'), join(folder, 'shown.yaml')]
      // The first time it makes two errors; the second time it keeps what it is shown and changes nothing.
      const fieldErrors = `s/^  message: .*/  message: 'Commitlet-Id: 1'/; s/^  branch: .*/  branch: '-x'/`
      const script = `#!/bin/sh\nif grep -q '^# .*not valid' "$1"; then cp "$1" ${shown}; else sed -i "${fieldErrors}" "$1"; fi\n`
      await writeFile(editor, script, { mode: 0o700 })
      const options = { env: { KUBE_EDITOR: editor, TMPDIR: folder }, allowFailure: true }
      const { code, stderr } = await kubectl(['edit', 'gitcommit', 'a'], options)
      t.not(code, 0)
      t.comment(stderr)
      const text = await readFile(shown, 'utf8')
      t.comment(text)
      t.match(text, /^# \* spec\.message: begins line 1 with "Commitlet-"/m)
      t.match(text, /^# \* spec\.branch: /m)
    })

    await t.test('applied again or labelled, nothing is announced; another spec or request is', async (t) => {
      const { create, kubectl, events, annotations } = await makeTeam(plane, sink)
      await create('a')
      await create('a')
      await kubectl(['label', 'gitcommit', 'a', 'x=y'], { kubeconfig: developer })
      await create('a', {}, { message: 'another' })
      await kubectl(['annotate', 'gitcommit', 'a', REQUESTED_AT], { kubeconfig: developer })
      await waitFor('third event', () => events('a')[2], 10_000)
      t.strictSame(events('a'), [1, 2, 2])
      t.match(await annotations('a'), { 'commitlet.dev/requested-by': 'developer' })
    })

    await t.test('an annotation without a time causes a warning, and is no request', async (t) => {
      const { create, kubectl, events } = await makeTeam(plane, sink)
      await create('a')
      const annotate = (value: string) =>
        kubectl(['annotate', 'gitcommit', 'a', `commitlet.dev/requested-at=${value}`, '--overwrite'])
      t.match((await annotate('')).stderr, /^Warning: .*commitlet\.dev\/requested-at is empty/)
      t.notMatch((await annotate('2026-01-01T00:00:00Z')).stderr, 'is empty')
      await waitFor('second event', () => events('a')[1], 10_000)
      t.match((await annotate('')).stderr, /^Warning: .*commitlet\.dev\/requested-at is empty/)
    })

    await t.test('a stamp cannot be changed or taken away', async (t) => {
      const { create, kubectl, annotations } = await makeTeam(plane, sink)
      await create('a')
      const before = await annotations('a')
      await kubectl(['annotate', 'gitcommit', 'a', 'commitlet.dev/requested-by=forged', '--overwrite'], {
        kubeconfig: developer,
      })
      await kubectl(['annotate', 'gitcommit', 'a', 'commitlet.dev/requester-'], { kubeconfig: developer })
      t.strictSame(await annotations('a'), before)
    })

    await t.test('a dry run is stamped and not announced', async (t) => {
      const { namespace, kubectl, create, events } = await makeTeam(plane, sink)
      const input = JSON.stringify({ ...gitCommit(), metadata: { name: 'dry', namespace } })
      const { stdout } = await kubectl(['create', '--dry-run=server', '-o', 'json', '-f', '-'], { input })
      t.match(JSON.parse(stdout).metadata.annotations, { 'commitlet.dev/requested-by': 'admin' })
      await create('wet')
      await waitFor('event', () => events('wet')[0], 10_000)
      t.strictSame(events('dry'), [])
    })

    await t.test(
      'while the webhook is down other updates and deletion work, but no request does',
      async (t) => {
        const { create, kubectl } = await makeTeam(plane, sink)
        await create('a', { finalizers: ['example.com/hold'] })
        await webhook.drain(5_000)
        await kubectl(['label', 'gitcommit', 'a', 'x=y'])
        await kubectl([
          'patch',
          'gitcommit',
          'a',
          '--subresource=status',
          '--type=merge',
          '-p',
          '{"status":{"observedGeneration":1,"phase":"Failed"}}',
        ])
        for (const args of [
          ['annotate', 'gitcommit', 'a', REQUESTED_AT],
          ['annotate', 'gitcommit', 'a', 'commitlet.dev/requester=x', '--overwrite'],
          ['patch', 'gitcommit', 'a', '--type=merge', '-p', '{"spec":{"message":"y"}}'],
          ['patch', 'gitcommit', 'a', '--type=json', '-p', '[{"op":"remove","path":"/spec"}]'],
        ]) {
          const { code, stderr } = await kubectl(args, { allowFailure: true })
          t.not(code, 0)
          t.match(stderr, /failed calling webhook "mutate.commitlet.dev"/)
        }
        await kubectl(['delete', 'gitcommit', 'a', '--wait=false'])
        await kubectl(['patch', 'gitcommit', 'a', '--type=merge', '-p', '{"metadata":{"finalizers":null}}'])
        const { code } = await kubectl(['get', 'gitcommit', 'a'], { allowFailure: true })
        t.not(code, 0, 'it is gone')
      },
    )
  },
  { own: true },
)
