import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { makeAuthority } from '../test/harness/certificates.ts'
import { startWebhook } from '../test/harness/programs.ts'
import { keptAlive, openLoop } from './admission-load.ts'
import type { Post } from './admission-load.ts'
import { reviewBody } from './admission-reviews.ts'

/** Rounds of 3 s each, in turns, so that what else the machine does meets all alike; the one before warms up. */
const ROUNDS = 4
const ARRIVALS = 150

/** What is asked in one kind of call, and how many milliseconds the answers took. */
export interface Contender {
  readonly name: string
  readonly times: readonly number[]
}

/**
 * Measures a bare node:https server and then the webhook, which asks a stand-in API server in a process of its own,
 * by the same AdmissionReviews. The bare server is the first.
 */
export async function alone(built: boolean): Promise<readonly Contender[]> {
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-bench-'))
  const undo: (() => unknown)[] = [() => rm(folder, { recursive: true })]
  try {
    const calls = await callsOf(folder, { built, later: (end) => undo.unshift(end) })
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const call of calls) await measure(call, round)
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

async function measure(call: Call, round: number): Promise<void> {
  // All made before the first is due, so that nothing but sending keeps this process busy.
  const bodies = Array.from({ length: ARRIVALS }, (_, index) => call.body(`${round}-${index}`))
  const times = await openLoop(ARRIVALS, (index) => admitted(call, bodies[index] ?? ''))
  if (round > 0) call.times.push(...times)
}

async function admitted({ path, post, answer }: Call, body: string): Promise<void> {
  const { status, text } = await post(path, body)
  if (status !== 200 || !text.includes(answer)) throw new Error(`${path} answered ${status}: ${text}`)
}

interface Life {
  readonly built: boolean
  readonly later: (end: () => unknown) => void
}

async function callsOf(folder: string, { built, later }: Life): Promise<readonly Call[]> {
  const authority = await makeAuthority()
  const { certPEM, keyPEM } = await authority.issue({ names: ['localhost'] })
  const [cert, key, stamp, kubeconfig] = ['tls.crt', 'tls.key', 'stamp.key', 'kubeconfig'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string]
  const stampKey = randomBytes(48)
  await Promise.all([
    writeFile(cert, certPEM),
    writeFile(key, keyPEM, { mode: 0o600 }),
    writeFile(stamp, stampKey, { mode: 0o600 }),
  ])
  const cluster = await startServer(['cluster', cert, key], later)
  await writeFile(kubeconfig, kubeconfigOf(cluster, authority.certPEM), { mode: 0o600 })
  const env = { KUBECONFIG: kubeconfig, TLS_CERT_FILE: cert, TLS_KEY_FILE: key, STAMP_KEY_FILE: stamp }
  const webhook = await startWebhook({ built, env })
  later(() => webhook.stop())
  await webhook.ready()
  const asked = keptAlive(webhook.url, authority.certPEM)
  later(asked.close)
  const first = await asked.post('/mutate', reviewBody({ path: '/mutate', name: 'first', stampKey }))
  const bare = await startServer(['bare', cert, key, `${first.text.length}`], later)
  const baseline = keptAlive(bare, authority.certPEM)
  later(baseline.close)
  const body = (path: '/mutate' | '/validate') => (name: string) => reviewBody({ path, name, stampKey })
  const same = (path: '/mutate' | '/validate') => () => body(path)('remembered')
  const ours = { post: asked.post, answer: '"allowed":true' }
  const rows = [
    { name: 'bare node:https', path: '/mutate', post: baseline.post, body: body('/mutate'), answer: 'x' },
    { ...ours, name: '/mutate, answers remembered', path: '/mutate', body: same('/mutate') },
    { ...ours, name: '/validate, answers remembered', path: '/validate', body: same('/validate') },
    { ...ours, name: '/mutate, 2 reviews each', path: '/mutate', body: distinct('m', body('/mutate')) },
    { ...ours, name: '/validate, 2 reviews each', path: '/validate', body: distinct('v', body('/validate')) },
  ]
  return rows.map((row) => ({ ...row, times: [] }))
}

/** Names of its own, so that nothing is remembered of what another kind of call asked for. */
function distinct(prefix: string, body: (name: string) => string): (id: string) => string {
  return (id) => body(`${prefix}-${id}`)
}

async function startServer(args: readonly string[], later: Life['later']): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'admission-server.ts'), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  later(async () => {
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
