import { spawn } from 'node:child_process'
import { createSecretKey, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { makeAuthority } from '../../test/harness/certificates.ts'
import { startWebhook } from '../../test/harness/programs.ts'
import { keptAlive, openLoop } from './open-loop.ts'
import type { Post } from './open-loop.ts'
import { reviewBody } from './admission-review.ts'

/** Rounds take turns, so that other load on the machine affects all calls alike. */
export interface Rounds {
  /** One more warms up first. */
  readonly rounds: number
  /** Of one kind of call in one round, 50 a second. */
  readonly arrivals: number
}

const USUAL: Rounds = { rounds: 4, arrivals: 150 }

/** One kind of call, and how many milliseconds each answer took. */
export interface MeasuredCall {
  readonly name: string
  readonly times: readonly number[]
}

/**
 * Measures a bare node:https server and the webhook with the same AdmissionReviews. The webhook asks a stand-in API
 * server that runs in its own process. The first result is the bare server's.
 */
export async function measureWebhookAlone(
  built: boolean,
  { rounds, arrivals }: Rounds = USUAL,
): Promise<readonly MeasuredCall[]> {
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-bench-'))
  const undo: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })]
  try {
    const calls = await callsOf(folder, { built, onEnd: (end) => undo.unshift(end) })
    for (let round = 0; round <= rounds; round += 1) {
      for (const call of calls) await measure(call, round, arrivals)
    }
    return calls
  } finally {
    for (const end of undo) await end()
  }
}

interface Call {
  readonly name: string
  readonly path: string
  readonly post: Post
  readonly body: (id: string) => string
  readonly answer: string
  readonly times: number[]
}

async function measure(call: Call, round: number, arrivals: number): Promise<void> {
  // All bodies are made before the first is due: from then on this process only sends.
  const bodies = Array.from({ length: arrivals }, (_, index) => call.body(`${round}-${index}`))
  const times = await openLoop(arrivals, (index) => admitted(call, bodies[index] ?? ''))
  if (round > 0) call.times.push(...times)
}

async function admitted({ path, post, answer }: Call, body: string): Promise<void> {
  const { status, text } = await post(path, body)
  if (status !== 200 || !text.includes(answer)) throw new Error(`${path} answered ${status}: ${text}`)
}

interface Setup {
  readonly built: boolean
  readonly onEnd: (end: () => unknown) => void
}

async function callsOf(folder: string, { built, onEnd }: Setup): Promise<readonly Call[]> {
  const authority = await makeAuthority()
  const { certPEM, keyPEM } = await authority.issue({ names: ['localhost'] })
  const [cert, key, stamp, kubeconfig] = ['tls.crt', 'tls.key', 'stamp.key', 'kubeconfig'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string]
  const bytes = randomBytes(48)
  const stampKey = createSecretKey(bytes)
  await Promise.all([
    writeFile(cert, certPEM),
    writeFile(key, keyPEM, { mode: 0o600 }),
    writeFile(stamp, bytes, { mode: 0o600 }),
  ])
  const cluster = await startServer(['cluster', cert, key], onEnd)
  await writeFile(kubeconfig, kubeconfigOf(cluster, authority.certPEM), { mode: 0o600 })
  const env = { KUBECONFIG: kubeconfig, TLS_CERT_FILE: cert, TLS_KEY_FILE: key, STAMP_KEY_FILE: stamp }
  const webhook = await startWebhook({ built, env })
  onEnd(() => webhook.stop())
  await webhook.ready()
  const webhookClient = keptAlive(webhook.url, authority.certPEM)
  onEnd(webhookClient.close)
  const first = await webhookClient.post('/mutate', reviewBody({ path: '/mutate', name: 'first', stampKey }))
  const bare = await startServer(['bare', cert, key, `${first.text.length}`], onEnd)
  const baseline = keptAlive(bare, authority.certPEM)
  onEnd(baseline.close)
  const body = (path: '/mutate' | '/validate') => (name: string) => reviewBody({ path, name, stampKey })
  const same = (path: '/mutate' | '/validate') => () => body(path)('cached')
  const ours = { post: webhookClient.post, answer: '"allowed":true' }
  const rows = [
    { name: 'bare node:https', path: '/mutate', post: baseline.post, body: body('/mutate'), answer: 'x' },
    { ...ours, name: '/mutate, cached reviews', path: '/mutate', body: same('/mutate') },
    { ...ours, name: '/validate, cached reviews', path: '/validate', body: same('/validate') },
    { ...ours, name: '/mutate, 2 reviews each', path: '/mutate', body: distinct('m', body('/mutate')) },
    { ...ours, name: '/validate, 2 reviews each', path: '/validate', body: distinct('v', body('/validate')) },
  ]
  return rows.map((row) => ({ ...row, times: [] }))
}

/** Distinct names, so that no kind of call finds reviews that another kind has cached. */
function distinct(prefix: string, body: (name: string) => string): (id: string) => string {
  return (id) => body(`${prefix}-${id}`)
}

async function startServer(args: readonly string[], onEnd: Setup['onEnd']): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'stand-in-server.ts'), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onEnd(async () => {
    const ended = once(child, 'exit')
    child.stdin.end()
    await ended
  })
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return `https://localhost:${port}`
}

function kubeconfigOf(server: string, caPEM: string): string {
  const cluster = { server, 'certificate-authority-data': Buffer.from(caPEM).toString('base64') }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'stand-in', cluster }],
    users: [{ name: 'webhook', user: { token: randomBytes(600).toString('base64url') } }],
    contexts: [{ name: 'stand-in', context: { cluster: 'stand-in', user: 'webhook' } }],
    'current-context': 'stand-in',
  })
}
