import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install, TOKEN } from '../harness/installation.ts'
import { freePort, waitFor } from '../harness/wait.ts'

const TRIGGERS = join(import.meta.dirname, '../../manifests/triggers')
const DEADLINE = 60_000

/** The API server's flags of manifests/triggers/audit-webhook, for a function at this port. */
async function auditFlags(folder: string, port: number): Promise<readonly string[]> {
  const read = (name: string) => readFile(join(TRIGGERS, 'audit-webhook', name), 'utf8')
  const config = (await read('webhook-kubeconfig.yaml')).replace(
    /(?<=^ +server: ).*$/m,
    `http://127.0.0.1:${port}/`,
  )
  await writeFile(join(folder, 'webhook-kubeconfig.yaml'), config)
  await writeFile(join(folder, 'audit-policy.yaml'), await read('audit-policy.yaml'))
  const { apiServer } = parse(await read('kubeadm.yaml')) as {
    readonly apiServer: {
      readonly extraArgs: readonly { readonly name: string; readonly value: string }[]
      readonly extraVolumes: readonly { readonly mountPath: string }[]
    }
  }
  const mounted = apiServer.extraVolumes[0]?.mountPath ?? ''
  return apiServer.extraArgs.map(({ name, value }) => `--${name}=${value.replace(mounted, folder)}`)
}

const folder = await mkdtemp(join(tmpdir(), 'commitlet-triggers-'))
t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
const port = await freePort()

await withControlPlane(
  t,
  async (t, plane) => {
    const commitlet = await install(t, plane, {
      functionEnv: { PORT: String(port), LOG_LEVEL: 'debug' },
      // Without a sink, the webhook stamps and does nothing else.
      webhookEnv: { K_SINK: '' },
    })
    const team = await commitlet.createTeam()
    const repository = await commitlet.git.createRepository(`${team.namespace}/config`)
    const path = `/apis/commitlet.dev/v1/namespaces/${team.namespace}/gitcommits`
    let running = commitlet.function

    /** Sends an event as a source of Knative does; returns the status. */
    async function send(type: string, data: unknown): Promise<number> {
      const headers = {
        'ce-specversion': '1.0',
        'ce-id': randomUUID(),
        'ce-source': '/test',
        'ce-type': `dev.knative.${type}`,
        'content-type': 'application/json',
      }
      const body = JSON.stringify(data)
      return (await fetch(running.url, { method: 'POST', headers, body })).status
    }

    t.test('with audit events alone, what is applied and changed lands, each once', async (t) => {
      await team.apply(configMap(), gitCommit('shop', repository.url))
      await team.waitFor('shop', 'condition=Ready', '60s')
      await team.apply(
        gitCommit('shop', repository.url, {
          message: 'Second',
          resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: 'second.yaml' },
        }),
      )
      await team.waitFor('shop', 'jsonpath={.status.observedGeneration}=2', '60s')
      await team.waitFor('shop', 'condition=Ready', '60s')
      await team.apply(configMap({ colour: 'red' }))
      await team.request('shop', 'again')
      await team.waitFor('shop', 'jsonpath={.status.lastHandledRequestedAt}=again', '60s')
      await team.waitFor('shop', 'jsonpath={.status.phase}=Succeeded', '60s')
      t.strictSame(await repository.log('main'), ['Second', 'Second', 'Record the shop settings', 'Begin'])
      t.match(await repository.show('main:second.yaml'), 'colour: red')
    })

    t.test('a name that the API server has made up is found, and a dry run makes no commit', async (t) => {
      const made = {
        ...gitCommit('', repository.url, { message: 'Made up' }),
        metadata: { generateName: 'made-' },
      }
      const tried = { ...gitCommit('tried', repository.url, { message: 'Dry run' }) }
      await plane.api.need('POST', `${path}?dryRun=All`, tried)
      const { metadata } = (await plane.api.need('POST', path, made)) as {
        readonly metadata: { readonly name: string }
      }
      await team.waitFor(metadata.name, 'condition=Ready', '60s')
      const log = await repository.log('main')
      t.equal(log.filter((message) => message === 'Made up').length, 1)
      t.notOk(log.includes('Dry run'))
    })

    t.test('with the rights of its manifest, a PingSource finds what nobody has heard of', async (t) => {
      await running.stop()
      await team.apply(
        gitCommit('unheard', repository.url, {
          message: 'Unheard',
          resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: 'unheard.yaml' },
        }),
      )
      await plane.kubectl(['apply', '-f', join(TRIGGERS, 'ping-source/rights.yaml')])
      // Where the audit events that the API server repeats do not come.
      running = await commitlet.startFunction({ PORT: String(await freePort()) })
      // A right that was just granted is known a moment later; sweeps are 30 s apart, so that a refused one is not made up for.
      const account = '--as=system:serviceaccount:commitlet-system:commitlet-function'
      const ask = ['auth', 'can-i', 'list', 'gitcommits.commitlet.dev', '-A', account]
      await waitFor(
        'right to list',
        async () =>
          (await plane.kubectl(ask, { allowFailure: true })).stdout.startsWith('yes') ? true : undefined,
        DEADLINE,
      )
      t.equal(await send('sources.ping', { any: 'thing' }), 202)
      await running.waitForLine((line) => line.includes('"msg":"swept"') && line.includes('"GitCommit":1'))
      await team.waitFor('unheard', 'condition=Ready', '60s')
      t.equal((await repository.log('main')).filter((message) => message === 'Unheard').length, 1)
      await running.stop()
      running = await commitlet.startFunction()
    })

    t.test('an event about a Secret that was fixed starts the attempt that waits for it', async (t) => {
      await plane.kubectl(['apply', '-f', join(TRIGGERS, 'referenced-objects/rights.yaml')])
      const secret = `/api/v1/namespaces/${team.namespace}/secrets/git`
      const setToken = (token: string) =>
        plane.api.need(
          'PATCH',
          secret,
          { stringData: { token } },
          { 'content-type': 'application/merge-patch+json' },
        )
      await setToken('wrong')
      await team.apply(gitCommit('repaired', repository.url, { message: 'Repaired' }))
      await team.waitFor('repaired', 'jsonpath={.status.phase}=Retrying', '60s')
      t.match(await team.get('repaired'), { status: { attempts: 1 } })
      await setToken(TOKEN)
      // Nothing else looks at it within five minutes: the webhook has no sink, and so makes no sweeps.
      const reference = { apiVersion: 'v1', kind: 'Secret', namespace: team.namespace, name: 'git' }
      t.equal(await send('apiserver.ref.update', reference), 202)
      await team.waitFor('repaired', 'jsonpath={.status.phase}=Succeeded', '60s')
      t.match(await team.get('repaired'), { status: { attempts: 2 } })
    })

    t.test('events of an ApiServerSource about what is settled do nothing, in both modes', async (t) => {
      const before = await repository.log('main')
      const stored = await plane.api.need('GET', `${path}/shop`)
      const reference = {
        apiVersion: 'commitlet.dev/v1',
        kind: 'GitCommit',
        namespace: team.namespace,
        name: 'shop',
      }
      t.equal(await send('apiserver.resource.update', stored), 202)
      t.equal(await send('apiserver.ref.update', reference), 202)
      t.equal(await send('apiserver.ref.update', { ...reference, name: 'not-there' }), 202)
      t.strictSame(await repository.log('main'), before)
    })
  },
  { own: true, flags: await auditFlags(folder, port) },
)
