import { execFile } from 'node:child_process'
import { copyFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import { hostNamed } from '../functions/domain/repository/hosts.ts'
import { plainConfig, standIn, writeConfig } from './cluster/stage.ts'
import { makeAuthority } from './harness/certificates.ts'
import { STAMPED } from './harness/memory-world.ts'
import { startFunction, startWebhook } from './harness/programs.ts'

const ROOT = join(import.meta.dirname, '..')
const DIST = join(ROOT, 'dist')
const run = promisify(execFile)

/** An API server that refuses every connection: both programs start without one. */
const NOWHERE = {
  clusters: [{ name: 'none', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'none', user: { token: 'none' } }],
  contexts: [{ name: 'none', context: { cluster: 'none', user: 'none' } }],
  'current-context': 'none',
}

t.test('npm run build makes two files, each of which Node runs on its own', async (t) => {
  await run(process.execPath, [join(ROOT, 'build.ts')], { cwd: ROOT })
  const files = ['function.cjs', `function.cjs.${process.version}.cache`, 'webhook.cjs']
  t.same((await readdir(DIST)).sort(), files)

  const folder = t.testdir({ kubeconfig: JSON.stringify(NOWHERE) })
  const KUBECONFIG = join(folder, 'kubeconfig')
  const authority = await makeAuthority()
  const { certPEM, keyPEM } = await authority.issue({ names: ['localhost'] })
  const [TLS_CERT_FILE, TLS_KEY_FILE] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
  await writeFile(TLS_CERT_FILE, certPEM)
  await writeFile(TLS_KEY_FILE, keyPEM)
  const programs = [
    await startFunction({ env: { KUBECONFIG }, built: true }),
    await startWebhook({ env: { KUBECONFIG, TLS_CERT_FILE, TLS_KEY_FILE }, built: true }),
  ]
  for (const program of programs) {
    await program.ready()
    t.equal(await program.stop(), 0)
  }
})

t.test('through the code cache a bundle does the same', async (t) => {
  const folder = t.testdir({ kubeconfig: '' })
  await copyFile(join(DIST, 'function.cjs'), join(folder, 'function.cjs'))
  const args = [join(ROOT, 'boot.cjs'), join(folder, 'function.cjs')]
  const env = { KUBECONFIG: join(folder, 'none') }
  const ending = await run(process.execPath, args, { env }).catch((error: unknown) => error)
  t.match(ending, { code: 1, stderr: /^KUBECONFIG cannot be read, .*\n$/ }, 'without a cache, too')
})

const CREDENTIALS = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'team', name: 'git' },
  data: { token: Buffer.from('t0ken').toString('base64') },
}

/** A PullRequest at a server without TLS whose API is the provider's. */
function pullRequestAt(server: string, provider: string): object {
  return {
    apiVersion: 'commitlet.dev/v1',
    kind: 'PullRequest',
    metadata: {
      namespace: 'team',
      name: 'shop',
      uid: 'u',
      generation: 1,
      resourceVersion: '1',
      annotations: STAMPED,
    },
    spec: {
      repository: `${server}/acme/shop.git`,
      baseBranch: 'main',
      headBranch: 'settings',
      title: 'Settings',
      credentials: { secretName: 'git', tokenKey: 'token' },
      provider,
      providerConfig: { baseURL: `${server}${hostNamed(provider)?.apiSuffix ?? ''}` },
    },
  }
}

/** As much of an API server as an attempt at that one resource needs; `written` gets what is written to its status. */
function apiServerWith(t: Test, resource: object, written: unknown[]): Promise<string> {
  return standIn(t, (request, response) => {
    const answerTo = (body: string): object => {
      if (request.url?.includes('/secrets/') === true) return CREDENTIALS
      if (request.method === 'POST') return { status: { allowed: true } }
      if (request.method === 'GET') return resource
      const { status } = JSON.parse(body) as { status: unknown }
      written.push(status)
      return { ...resource, status }
    }
    void text(request).then((body) => {
      const answer = JSON.stringify(answerTo(body))
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    })
  })
}

// Their libraries are ES modules only, and are loaded within the bundle when they are first needed.
for (const provider of ['github', 'gitlab']) {
  t.test(`the bundle calls the API of ${provider}`, async (t) => {
    const asked: (string | undefined)[] = []
    const host = await standIn(t, ({ url }, response) => {
      asked.push(url)
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"message":"401 Unauthorized"}')
    })
    const written: unknown[] = []
    const server = await apiServerWith(t, pullRequestAt(host, provider), written)
    const KUBECONFIG = await writeConfig(t, plainConfig(server))
    const env = { KUBECONFIG, INSECURE_HOSTS: host.replace('http://', '') }
    const program = await startFunction({ env, built: true })
    t.teardown(() => program.kill())
    await program.ready()
    const event = { apiVersion: 'commitlet.dev/v1', kind: 'PullRequest', namespace: 'team', name: 'shop' }
    const headers = {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': '1',
      'ce-source': '/test',
      'ce-type': 'dev.commitlet.pullrequest.applied',
    }
    const answer = await fetch(program.url, { method: 'POST', headers, body: JSON.stringify(event) })
    t.equal(answer.status, 202)
    t.match(asked[0], new RegExp(`^${hostNamed(provider)?.apiSuffix ?? ''}/.*acme(/|%2F)shop`))
    t.match(written.at(-1), { phase: 'Retrying', conditions: [{ reason: 'AuthenticationFailed' }] })
  })
}
