import { execFile } from 'node:child_process'
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import { hostNamed } from '../functions/domain/repository/hosts.ts'
import { plainConfig, standIn, writeConfig } from './cluster/stage.ts'
import { makeAuthority } from './harness/certificates.ts'
import { gitCommit, STAMPED } from './harness/memory-world.ts'
import { BUNDLES, startFunction, startWebhook } from './harness/programs.ts'
import { startFaultyServer } from './harness/ssh-faulty.ts'
import { isLong, sample } from './harness/sample.ts'
import { makeKey } from './harness/ssh-keys.ts'

const ROOT = join(import.meta.dirname, '..')
/** What test/run.ts has bundled for all tests; a long run, and one that counts lines, builds again as users do. */
const BUNDLED = isLong() ? undefined : process.env[BUNDLES]
const DIST = BUNDLED ?? join(ROOT, 'dist')
const built = BUNDLED === undefined
const run = promisify(execFile)

/** An API server that refuses every connection: both programs start without one. */
const NOWHERE = {
  clusters: [{ name: 'none', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'none', user: { token: 'none' } }],
  contexts: [{ name: 'none', context: { cluster: 'none', user: 'none' } }],
  'current-context': 'none',
}

async function build(t: Test): Promise<void> {
  await run(process.execPath, [join(ROOT, 'build.ts')], { cwd: ROOT })
  const command = ['commitlet.1', 'commitlet.cjs']
  const files = [...command, 'function.cjs', `function.cjs.${process.version}.cache`, 'webhook.cjs']
  t.same((await readdir(DIST)).sort(), files)
  // In a folder of its own, which is not a part of this package of ES modules.
  const alone = join(t.testdir({ 'package.json': '{}' }), 'commitlet')
  await copyFile(join(DIST, 'commitlet.cjs'), alone)
  const { version }: { readonly version: string } = JSON.parse(
    await readFile(join(ROOT, 'package.json'), 'utf8'),
  )
  t.equal((await run(alone, ['--version'])).stdout, `${version}\n`)
  const unread = await run(alone, ['check', '-f', '/none']).catch((error: unknown) => error)
  t.match(unread, { code: 2, stderr: /^commitlet: \/none cannot be read/ })
}

if (built) t.test('npm run build makes the command line as well, which runs on its own', build)

t.test('the build makes files that Node runs on their own', async (t) => {
  const folder = t.testdir({ kubeconfig: JSON.stringify(NOWHERE) })
  const KUBECONFIG = join(folder, 'kubeconfig')
  const authority = await makeAuthority()
  const { certPEM, keyPEM } = await authority.issue({ names: ['localhost'] })
  const [TLS_CERT_FILE, TLS_KEY_FILE] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
  await writeFile(TLS_CERT_FILE, certPEM)
  await writeFile(TLS_KEY_FILE, keyPEM)
  const programs = [
    await startFunction({ env: { KUBECONFIG }, built }),
    await startWebhook({ env: { KUBECONFIG, TLS_CERT_FILE, TLS_KEY_FILE }, built }),
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

/** Answers by the end of the path. */
type Objects = Readonly<Record<string, object>>

/** As much of an API server as an attempt at that one resource needs; `written` gets what is written to its status. */
function apiServerWith(
  t: Test,
  { resource, others }: { readonly resource: object; readonly others: Objects },
  written: unknown[],
): Promise<string> {
  return standIn(t, (request, response) => {
    const answerTo = (body: string): object => {
      const other = Object.entries(others).find(([end]) => request.url?.endsWith(end))?.[1]
      if (other !== undefined) return other
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

/** Starts the built function, and sends it the event of the resource. */
async function sendEvent(
  t: Test,
  {
    server,
    env,
    kind,
  }: { readonly server: string; readonly env: Record<string, string>; readonly kind: string },
): Promise<void> {
  const KUBECONFIG = await writeConfig(t, plainConfig(server))
  const program = await startFunction({ env: { KUBECONFIG, ...env }, built })
  t.teardown(() => program.kill())
  await program.ready()
  const event = { apiVersion: 'commitlet.dev/v1', kind, namespace: 'team', name: 'shop' }
  const headers = {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': '1',
    'ce-source': '/test',
    'ce-type': `dev.commitlet.${kind.toLowerCase()}.applied`,
  }
  const answer = await fetch(program.url, { method: 'POST', headers, body: JSON.stringify(event) })
  t.equal(answer.status, 202)
}

/** How an attempt ends whose provider answers so, and what it was asked. */
async function askProvider(
  t: Test,
  provider: string,
  answer: (response: ServerResponse) => void,
): Promise<{ readonly asked: readonly (string | undefined)[]; readonly status: unknown }> {
  const asked: (string | undefined)[] = []
  const host = await standIn(t, ({ url }, response) => {
    asked.push(url)
    answer(response)
  })
  const written: unknown[] = []
  const objects = { resource: pullRequestAt(host, provider), others: { '/secrets/git': CREDENTIALS } }
  const server = await apiServerWith(t, objects, written)
  const env = { INSECURE_HOSTS: host.replace('http://', '') }
  await sendEvent(t, { server, env, kind: 'PullRequest' })
  return { asked, status: written.at(-1) }
}

// Their libraries are ES modules only, and are loaded within the bundle when they are first needed.
for (const provider of sample(['github', 'gitlab'], () => 'provider')) {
  t.test(`the bundle calls the API of ${provider}`, async (t) => {
    const { asked, status } = await askProvider(t, provider, (response) =>
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"message":"401 Unauthorized"}'),
    )
    t.match(asked[0], new RegExp(`^${hostNamed(provider)?.apiSuffix ?? ''}/.*acme(/|%2F)shop`))
    t.match(status, { phase: 'Retrying', conditions: [{ reason: 'AuthenticationFailed' }] })
  })
}

t.test('an answer that the client of the bundle asserts not to come is no error of its own', async (t) => {
  const { status } = await askProvider(t, 'github', ({ socket }) => socket?.end('HTTP/1.1 101 S\r\n\r\n'))
  t.match(status, { phase: 'Retrying', conditions: [{ reason: 'NetworkError' }] })
})

t.test('the bundle pushes over SSH, by a thread whose program is in the bundle', async (t) => {
  const ssh = await startFaultyServer()
  t.teardown(() => ssh.close())
  const repository = await ssh.createRepository('acme/shop')
  const { privateKey } = makeKey('-t', 'ed25519')
  const data = { 'ssh-privatekey': encoded(privateKey), known_hosts: encoded(ssh.knownHosts) }
  const resource = gitCommit({ repository: repository.url, credentials: { secretName: 'git' } })
  const metadata = { ...resource.metadata, uid: 'u', generation: 1, resourceVersion: '1' }
  const others = {
    '/secrets/git': { ...CREDENTIALS, type: 'kubernetes.io/ssh-auth', data },
    '/api/v1': { resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['get'] }] },
    '/configmaps/shop': {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'shop', namespace: 'team' },
    },
  }
  const written: unknown[] = []
  const server = await apiServerWith(t, { resource: { ...resource, metadata }, others }, written)
  await sendEvent(t, { server, env: {}, kind: 'GitCommit' })
  t.match(written.at(-1), { phase: 'Succeeded', commit: { sha: await repository.git('rev-parse', 'main') } })
})

function encoded(text: string): string {
  return Buffer.from(text).toString('base64')
}
