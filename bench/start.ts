import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../test/harness/wait.ts'
import { median, table } from './statistics.ts'

const ROOT = join(import.meta.dirname, '..')
const ROUNDS = 15
const PATIENCE_MS = 10_000

/** The smallest possible Node server: the least time that a start takes. */
const BARE =
  "require('node:http').createServer((q, s) => s.end()).listen(Number(process.env.PORT), '127.0.0.1')"

/** An API server that refuses every connection: the function does not need it to start. */
const KUBECONFIG = {
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'none', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'none', user: { token: 'none' } }],
  contexts: [{ name: 'none', context: { cluster: 'none', user: 'none' } }],
  'current-context': 'none',
}

/** Milliseconds from spawn to the first 200, and the resident memory then, in MB. */
interface Start {
  readonly milliseconds: number
  readonly memory: number
}

async function measure(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Start> {
  const port = await freePort()
  const began = performance.now()
  const child = spawn(process.execPath, [...args], { env: { ...env, PORT: String(port) }, stdio: 'ignore' })
  const ended = once(child, 'exit')
  while (!(await answers(port))) {
    if (performance.now() - began > PATIENCE_MS) throw new Error(`${args.join(' ')} did not answer in time`)
    await pause(1)
  }
  const milliseconds = performance.now() - began
  const memory = await residentMB(child.pid ?? 0)
  child.kill('SIGKILL')
  await ended
  return { milliseconds, memory }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: '/health/readiness', agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    }).on('error', () => resolve(false))
  })
}

async function residentMB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}

if (!existsSync(join(ROOT, 'dist/function.cjs')))
  throw new Error('dist/ does not exist: run `npm run build` first')
const folder = await mkdtemp(join(tmpdir(), 'commitlet-bench-'))
const kubeconfig = join(folder, 'kubeconfig')
await writeFile(kubeconfig, JSON.stringify(KUBECONFIG))
const env = { KUBECONFIG: kubeconfig, LOG_LEVEL: 'silent' }
const contenders = [
  { name: 'bare node:http', args: ['-e', BARE] },
  { name: 'function, code cache', args: [join(ROOT, 'boot.cjs'), join(ROOT, 'dist/function.cjs')] },
  { name: 'function, bundle alone', args: [join(ROOT, 'dist/function.cjs')] },
].map((contender) => ({ ...contender, starts: [] as Start[] }))
// Interleaved, so that other load on the machine affects all alike. The first round only warms the disk cache.
for (let round = 0; round <= ROUNDS; round += 1) {
  for (const { args, starts } of contenders) {
    const start = await measure(args, env)
    if (round > 0) starts.push(start)
  }
}
await rm(folder, { recursive: true })
const baseline = median(contenders[0]!.starts.map(({ milliseconds }) => milliseconds))
process.stdout.write(
  `Spawn to first 200, median of ${ROUNDS} interleaved starts each (Node ${process.version})\n\n`,
)
process.stdout.write(
  table(
    ['', 'ms', 'ratio', 'MB resident'],
    contenders.map(({ name, starts }) => {
      const milliseconds = median(starts.map((start) => start.milliseconds))
      const memory = median(starts.map((start) => start.memory))
      return [name, milliseconds.toFixed(0), `${(milliseconds / baseline).toFixed(2)}x`, memory.toFixed(0)]
    }),
  ),
)
