import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../test/harness/wait.ts'
import { median, rounded, spread, type Spread } from './statistics.ts'

const ROOT = join(import.meta.dirname, '..')
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

/** What starts: the least that Node can do, and the built function. */
export type Starter = keyof typeof STARTERS

const BUNDLE = join(ROOT, 'dist/function.cjs')

/** Titles and arguments of Node. */
export const STARTERS = {
  bare: { title: 'bare node:http', args: ['-e', BARE] },
  cached: { title: 'function, code cache', args: [join(ROOT, 'boot.cjs'), BUNDLE] },
  bundle: { title: 'function, bundle alone', args: [BUNDLE] },
} as const

/** Milliseconds from spawn to the first 200, and the resident memory then. */
export interface Started {
  readonly starter: Starter
  readonly took: Spread
  readonly residentMB: number
}

/** Starts each of them so many times; dist/ must exist. No API server is needed. */
export async function measureStarts(rounds: number): Promise<readonly Started[]> {
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-bench-'))
  const kubeconfig = join(folder, 'kubeconfig')
  await writeFile(kubeconfig, JSON.stringify(KUBECONFIG))
  const env = { KUBECONFIG: kubeconfig, LOG_LEVEL: 'silent' }
  const starts: Readonly<Record<Starter, Start[]>> = { bare: [], cached: [], bundle: [] }
  try {
    // By turns, so that other load on the machine affects all alike. The first round only warms the disk cache.
    for (let round = 0; round <= rounds; round += 1) {
      const taken = await startEach(env)
      if (round === 0) continue
      for (const { starter, start } of taken) starts[starter].push(start)
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  return NAMES.map((starter) => ({
    starter,
    took: spread(starts[starter].map(({ milliseconds }) => milliseconds)),
    residentMB: rounded(median(starts[starter].map(({ memory }) => memory))),
  }))
}

async function startEach(env: Readonly<Record<string, string>>) {
  const taken = []
  for (const starter of NAMES) taken.push({ starter, start: await measure(STARTERS[starter].args, env) })
  return taken
}

const NAMES = ['bare', 'cached', 'bundle'] as const satisfies readonly Starter[]
