import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Script } from 'node:vm'
import { build, stop } from 'esbuild'
import type { BuildOptions, Plugin } from 'esbuild'
import { compiledValidators, lazyPackages, lazyPartsOf, plainAsserts, usedPartsOf } from './build-plugins.ts'
import { COMMANDS } from './cli/commands/table.ts'
import { manPage } from './cli/completion/man-page.ts'
import { versionOfRelease } from './cli/version.ts'
import type { WorkerText } from './functions/git/ssh/threads/worker-text.ts'

const DIST = join(import.meta.dirname, 'dist')
/** How long a bundle may take to become ready while its code cache is made. */
const READY_DEADLINE_MS = 20_000

/** The programs and the file that each is bundled from. */
const ENTRIES = {
  function: join(import.meta.dirname, 'functions/main.ts'),
  webhook: join(import.meta.dirname, 'webhook/main.ts'),
} as const

/** The programs of threads, and the file that each is bundled from. */
const THREADS = {
  'git/ssh/threads': join(import.meta.dirname, 'functions/git/ssh-worker/main.ts'),
  edits: join(import.meta.dirname, 'functions/edits/main.ts'),
} as const

/** The programs of threads, by the folder of functions/ that starts them. */
export type ThreadTexts = Readonly<Record<keyof typeof THREADS, WorkerText>>

/** Bundles each program into one file that `node` runs without other files, and makes the code cache. */
async function main(): Promise<void> {
  rmSync(DIST, { recursive: true, force: true })
  await bundleCommandLine(DIST, await bundlePrograms(DIST))
  await makeCache(join(DIST, 'function.cjs'))
}

/** What no start needs: clients of the network, and ways to log in or to connect that few installations have. */
const LAZY = [
  'form-data',
  'hpagent',
  'js-yaml',
  'jsonpath-plus',
  'node:http2',
  'openid-client',
  'prom-client',
  'simple-git',
  'socks',
  'socks-proxy-agent',
  'undici',
  'yaml',
]

/** What http/ uses of undici: all of it takes three times as long to load, and 12 MB more. */
const UNDICI = {
  before:
    "require('undici/lib/dispatcher/dispatcher').prototype.request = require('undici/lib/api/api-request')",
  parts: {
    Agent: 'lib/dispatcher/agent',
    Client: 'lib/dispatcher/client',
    errors: 'lib/core/errors',
  },
}

/** What telemetry/ uses of prom-client: the rest brings a library for estimates and one for clusters of Node. */
const PROM_CLIENT = {
  before: '',
  parts: {
    Counter: 'lib/counter',
    Gauge: 'lib/gauge',
    Histogram: 'lib/histogram',
    Registry: 'lib/registry',
  },
}

const OPTIONS = {
  bundle: true,
  minifyWhitespace: true,
  // Names stay, so that traces of errors can be read; esbuild's `keepNames` would give each closure its name again when it is made.
  platform: 'node',
  target: 'node22',
  format: 'cjs',
  logLevel: 'warning',
  // The sources find the file of a thread by it; a bundle has its text.
  logOverride: { 'empty-import-meta': 'silent' },
  legalComments: 'none',
  external: [
    // Optional native modules of ssh2, which works without them.
    'cpu-features',
    '*.node',
    // Fastify loads these for routes with a schema and for requests of tests; there are none.
    '@fastify/ajv-compiler',
    '@fastify/fast-json-stringify-compiler',
    'light-my-request',
  ],
} as const satisfies BuildOptions

/** Writes `function.cjs` and `webhook.cjs` into the folder; returns the programs of threads, which are in the first. */
export async function bundlePrograms(folder: string): Promise<ThreadTexts> {
  const threads = {
    'git/ssh/threads': await bundleThread(THREADS['git/ssh/threads']),
    edits: await bundleThread(THREADS.edits),
  }
  await build({ ...OPTIONS, ...bundleTo(folder, threads), entryPoints: ENTRIES, banner: { js: CHECK_NODE } })
  await stop()
  return threads
}

/** Writes `commitlet.cjs`, the command line, and its manual page into the folder. */
export async function bundleCommandLine(folder: string, threads: ThreadTexts): Promise<void> {
  const version = versionOfRelease()
  await build({
    ...OPTIONS,
    ...bundleTo(folder, threads),
    entryPoints: { commitlet: join(import.meta.dirname, 'cli/main.ts') },
    define: { COMMITLET_VERSION: JSON.stringify(version) },
    banner: { js: `#!/usr/bin/env node\n${CHECK_NODE}` },
  })
  await stop()
  chmodSync(join(folder, 'commitlet.cjs'), 0o755)
  writeFileSync(join(folder, 'commitlet.1'), manPage(COMMANDS, version))
}

function bundleTo(folder: string, threads: ThreadTexts): BuildOptions {
  const plugins = [
    withThreadTexts(threads),
    plainAsserts(),
    compiledValidators(),
    usedPartsOf('@kubernetes/client-node'),
    lazyPackages(LAZY),
    lazyPartsOf('undici', UNDICI),
    lazyPartsOf('prom-client', PROM_CLIENT),
  ]
  return { outdir: folder, outExtension: { '.js': '.cjs' }, plugins }
}

/** The program of a thread, with the code cache of what runs while it loads. */
async function bundleThread(entryPoint: string): Promise<WorkerText> {
  const { outputFiles } = await build({
    ...OPTIONS,
    entryPoints: [entryPoint],
    plugins: [plainAsserts()],
    write: false,
  })
  const text = `(function (require, module, exports, __dirname) {${outputFiles[0]?.text ?? ''}\n})`
  const script = new Script(text)
  const load: unknown = script.runInThisContext()
  const given = [createRequire(import.meta.url), { exports: {} }, {}, '']
  if (typeof load === 'function') Reflect.apply(load, undefined, given)
  return { text, cache: script.createCachedData().toString('base64') }
}

/** Puts the programs of threads into the bundle that starts them. */
function withThreadTexts(threads: ThreadTexts): Plugin {
  return {
    name: 'worker-text',
    setup(bundler) {
      for (const [folder, thread] of Object.entries(threads))
        bundler.onLoad({ filter: new RegExp(`/functions/${folder}/worker-text\\.ts$`) }, () => ({
          contents: `export const WORKER_TEXT = ${JSON.stringify(thread)}`,
        }))
    },
  }
}

/** Runs the function and its hot paths once, as far as possible without a cluster, and keeps its code cache. */
async function makeCache(bundle: string): Promise<void> {
  const kubeconfig = join(DIST, 'kubeconfig')
  writeFileSync(kubeconfig, KUBECONFIG)
  const port = await freePort()
  const child = spawn(process.execPath, [join(import.meta.dirname, 'boot.cjs'), bundle], {
    env: { PORT: String(port), KUBECONFIG: kubeconfig, LOG_LEVEL: 'silent', COMMITLET_MAKE_CACHE: '1' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const ended = once(child, 'exit')
  await waitUntilReady(`http://127.0.0.1:${port}/health/readiness`)
  await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: EVENT_HEADERS, body: EVENT })
  child.kill('SIGTERM')
  await ended
  rmSync(kubeconfig)
  if (!existsSync(`${bundle}.${process.version}.cache`)) throw new Error('the code cache was not written')
}

async function waitUntilReady(url: string): Promise<void> {
  const deadline = Date.now() + READY_DEADLINE_MS
  while (Date.now() < deadline) {
    const answer = await fetch(url).catch(() => undefined)
    if (answer?.ok === true) return
    await pause(20)
  }
  throw new Error(`${url} did not answer within ${READY_DEADLINE_MS / 1000} s`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** Runs first, in syntax that every Node understands: older versions fail on the bundle. */
const CHECK_NODE = `var v=process.versions.node.split(".");if(v[0]<22||v[0]==22&&v[1]<19){process.stderr.write("Commitlet needs Node 22.19 or newer, but this is "+process.versions.node+".\\n");process.exit(1)}`

/** An API server that refuses every connection. */
const KUBECONFIG = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'none', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'none', user: { token: 'none' } }],
  contexts: [{ name: 'none', context: { cluster: 'none', user: 'none' } }],
  'current-context': 'none',
})

const EVENT_HEADERS = {
  'content-type': 'application/json',
  'ce-specversion': '1.0',
  'ce-id': 'build',
  'ce-source': '/build',
  'ce-type': 'dev.commitlet.gitcommit.applied',
}
const EVENT = JSON.stringify({
  apiVersion: 'commitlet.dev/v1',
  kind: 'GitCommit',
  namespace: 'build',
  name: 'build',
  uid: 'build',
  generation: 1,
})

if (import.meta.main) await main()
