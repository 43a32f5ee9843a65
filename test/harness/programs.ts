import { spawn } from 'node:child_process'
import { request as plainRequest } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { leash } from './leash.ts'
import { freePort, waitFor } from './wait.ts'

/** How to start one of the two programs. */
export interface ProgramOptions {
  /** Its settings; PORT may be given, else a free one is taken. */
  readonly env: Readonly<Record<string, string>>
  /** Runs dist/*.cjs instead of the sources; `cached`: with the code cache, as the image does. */
  readonly built?: boolean | 'cached'
  /** A command that becomes the program, with the same process id: its arguments come before the program's own. */
  readonly by?: readonly string[]
}

/** One of the two programs, running as a child process. */
export interface Program {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Everything that it wrote to both streams, by lines. */
  readonly lines: readonly string[]
  /** The first line of the log, earlier ones included, that matches the predicate. */
  waitForLine(predicate: (line: string) => boolean, deadlineMs?: number): Promise<string>
  /** Waits until /health/readiness answers 200; an end of the program is an error with its last lines. */
  ready(deadlineMs?: number): Promise<void>
  /** SIGTERM, and SIGKILL where it still runs at the deadline; returns the exit code or the signal. */
  stop(deadlineMs?: number): Promise<number | NodeJS.Signals>
  /** SIGKILL, as in a crash. */
  kill(): Promise<void>
}

const ROOT = join(import.meta.dirname, '../..')
// Long, for a machine that is busy with other tests; a wait ends as soon as it can.
const DEADLINE = 60_000
// The machine's own settings (a proxy, a cluster) are not passed on.
const INHERITED = /^(PATH|HOME|TMPDIR|NODE_COMPILE_CACHE|SSL_CERT_FILE|SSL_CERT_DIR)$/
/** Tap's loaders measure the coverage of the children, and take half a second in each of them. */
export const COVERING = /^(NODE_OPTIONS|NODE_V8_COVERAGE|TAP.*|_TAPJS_.*)$/

/** Names the folder where test/run.ts has bundled both programs; without it they run from their sources. */
export const BUNDLES = 'COMMITLET_TEST_BUNDLES'

/** The file of that folder with the programs of threads (ThreadTexts of build.ts). */
export const THREADS = 'threads.json'

/** Starts the function; KUBECONFIG and the settings of the contract are in `env`. */
export function startFunction(options: ProgramOptions): Promise<Program> {
  return start('http', 'function', options)
}

/** Starts the webhook; it needs TLS_CERT_FILE and TLS_KEY_FILE. */
export function startWebhook(options: ProgramOptions): Promise<Program> {
  return start('https', 'webhook', options)
}

/** As in the image. */
export const V8_OPTIONS: readonly string[] = ['--max-semi-space-size=4']
/** Settings of a program on a kernel without IPv6 (ipv6.disable=1), where it is EAFNOSUPPORT to ask for an address of it. */
export const WITHOUT_IPV6: Readonly<Record<string, string>> = {
  NODE_OPTIONS: "--import=data:text/javascript,process.binding('tcp_wrap').TCP.prototype.bind6=()=>-97",
}
/** As in the image. */
export const IMAGE_MALLOC: Readonly<Record<string, string>> = { MALLOC_MMAP_THRESHOLD_: '131072' }
/** As in the manifests of the webhook. */
export const MALLOC: Readonly<Record<string, string>> = { MALLOC_MMAP_THRESHOLD_: '16384' }

type Part = keyof typeof SOURCES
const SOURCES = { function: 'functions/main.ts', webhook: 'webhook/main.ts' } as const

function fileOf(part: Part, built: boolean): string {
  if (built) return join(ROOT, 'dist', `${part}.cjs`)
  const bundles = process.env[BUNDLES]
  return bundles === undefined ? join(ROOT, SOURCES[part]) : join(bundles, `${part}.cjs`)
}

function isInherited(name: string): boolean {
  return INHERITED.test(name) || (process.env[BUNDLES] === undefined && COVERING.test(name))
}

async function start(scheme: 'http' | 'https', part: Part, options: ProgramOptions): Promise<Program> {
  const { env, by = [], built = false } = options
  const port = env['PORT'] === undefined ? await freePort() : Number(env['PORT'])
  const inherited = Object.entries(process.env).filter(([name]) => isInherited(name))
  const boot = built === 'cached' ? [join(ROOT, 'boot.cjs')] : []
  const [command, ...args] = [...by, process.execPath, ...V8_OPTIONS, ...boot, fileOf(part, built !== false)]
  const child = spawn(command, args, {
    cwd: ROOT,
    env: {
      ...Object.fromEntries(inherited),
      ...(part === 'webhook' ? MALLOC : IMAGE_MALLOC),
      ...env,
      PORT: String(port),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const untie = child.pid === undefined ? () => undefined : leash(child.pid)
  const lines: string[] = []
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on('line', (line) => lines.push(line))
  const end: { current?: string } = {}
  const gone = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('close', (code, signal) => {
      untie()
      end.current = `It ended with ${code ?? signal ?? 0}.`
      resolve(code ?? signal ?? 0)
    })
  })
  const url = `${scheme}://localhost:${port}`
  return {
    url,
    port,
    pid: child.pid ?? 0,
    lines,
    waitForLine: (predicate, deadlineMs = DEADLINE) =>
      waitFor('matching line in the log', () => lines.find(predicate), deadlineMs),
    async ready(deadlineMs = DEADLINE) {
      const health = `${url}/health/readiness`
      const outcome = await waitFor<true | string>(
        `200 of ${health}`,
        () => end.current ?? isHealthy(health),
        deadlineMs,
      ).catch(String)
      if (outcome !== true)
        throw new Error(`The ${part} is not ready. ${outcome}\n${lines.slice(-10).join('\n')}`)
    },
    async stop(deadlineMs = DEADLINE) {
      child.kill('SIGTERM')
      function endLate(): void {
        // Its streams are closed later than it ends.
        if (child.exitCode !== null || child.signalCode !== null) return
        process.stderr.write(`The ${part} went on for ${deadlineMs} ms:\n${lines.slice(-5).join('\n')}\n`)
        child.kill('SIGKILL')
      }
      // Where this process itself stood still for so long, it hears of the end only after its timers.
      const timer = setTimeout(() => setImmediate(endLate), deadlineMs)
      const outcome = await gone
      clearTimeout(timer)
      return outcome
    },
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

function isHealthy(url: string): Promise<true | undefined> {
  const ask = url.startsWith('https') ? request : plainRequest
  return new Promise((resolve) => {
    const asked = ask(url, { agent: false, rejectUnauthorized: false, timeout: 1000 }, (response) => {
      response.resume()
      resolve(response.statusCode === 200 ? true : undefined)
    })
    asked
      .once('timeout', () => asked.destroy())
      .once('error', () => resolve(undefined))
      .end()
  })
}
