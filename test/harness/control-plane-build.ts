import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { waitFor } from './wait.ts'

/** Paths of the three programs. */
export interface Binaries {
  readonly apiServer: string
  readonly etcd: string
  readonly kubectl: string
}

/** Why there is no control plane, as one sentence. */
export interface Missing {
  readonly missing: string
}

/** Where to look, and the callback for the progress of the build. */
export interface Search {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly say: (line: string) => void
  /** Ends a build, or the wait for the build of another process. */
  readonly signal?: AbortSignal | undefined
  /** Default folders of envtest and of the Go installation; only tests replace them. */
  readonly system?: { readonly kubebuilder: string; readonly go: string }
}

const MODULE = join(import.meta.dirname, '../control-plane')
const PACKAGES = ['k8s.io/kubernetes/cmd/kube-apiserver', 'go.etcd.io/etcd/server/v3']
const DEADLINE = 45 * 60_000

type Servers = Omit<Binaries, 'kubectl'>

/**
 * Builds kube-apiserver and etcd from test/control-plane into the user's cache folder, unless they are there.
 * The folder appears whole or not at all; a second builder waits for the first.
 */
export async function buildOnce(
  go: string | undefined,
  { env, say, signal }: Search,
): Promise<Servers | Missing> {
  const sources = await Promise.all(['go.mod', 'go.sum'].map((file) => readFile(join(MODULE, file), 'utf8')))
  const hash = createHash('sha256').update(sources.join('\0')).update(`${process.platform} ${process.arch}`)
  const folder = join(cacheFolder(env), `control-plane-${hash.digest('hex').slice(0, 16)}`)
  const servers = { apiServer: join(folder, 'kube-apiserver'), etcd: join(folder, 'server') }
  if (await isProgram(servers.apiServer)) return servers
  if (go === undefined) {
    return {
      missing: 'There is no kube-apiserver with etcd (set KUBEBUILDER_ASSETS) and no Go to build them.',
    }
  }
  await mkdir(dirname(folder), { recursive: true })
  const release = await lock(`${folder}.lock`, say, signal)
  try {
    if (await isProgram(servers.apiServer)) return servers
    const failure = await build({ go, folder, version: versionOf(sources[0] ?? ''), say, signal })
    return failure === undefined
      ? servers
      : { missing: `Go could not build kube-apiserver and etcd: ${failure}` }
  } finally {
    await release()
  }
}

/** The folder of what is built once, below the user's cache folder. */
export function cacheFolder(env: Search['env'] = process.env): string {
  return join(env['XDG_CACHE_HOME'] ?? join(env['HOME'] ?? homedir(), '.cache'), 'commitlet')
}

interface Build {
  readonly go: string
  readonly folder: string
  readonly version: readonly string[]
  readonly say: (line: string) => void
  readonly signal: AbortSignal | undefined
}

/** Full version, major and minor of kube-apiserver. */
function versionOf(goMod: string): readonly string[] {
  return /k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\S+)/.exec(goMod)?.slice(1) ?? []
}

async function build({ go, folder, version, say, signal }: Build): Promise<string | undefined> {
  const part = `${folder}.${process.pid}`
  await rm(part, { recursive: true, force: true })
  await mkdir(part)
  say(`Building kube-apiserver ${version[0] ?? ''} and etcd, once (6 minutes on 2 cores), into ${folder}`)
  // Without these the API server reports v0.0.0-master, which clients refuse as too old.
  const stamps = ['gitVersion', 'gitMajor', 'gitMinor'].map(
    (name, i) => `-X k8s.io/component-base/version.${name}=${version[i] ?? ''}`,
  )
  const flags = ['-v', '-trimpath', '-ldflags', ['-s -w', ...stamps].join(' '), '-o', `${part}/`]
  const failure = await runGo(go, ['build', ...flags, ...PACKAGES], { say, signal })
  if (failure === undefined) await rename(part, folder)
  else await rm(part, { recursive: true, force: true })
  return failure
}

/** The last line of Go's output where it failed. */
async function runGo(
  go: string,
  args: readonly string[],
  { say, signal }: Pick<Build, 'say' | 'signal'>,
): Promise<string | undefined> {
  const env = { ...process.env, CGO_ENABLED: '0' }
  const child = spawn(go, args, { cwd: MODULE, env, stdio: ['ignore', 'ignore', 'pipe'], timeout: DEADLINE })
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line))
  const started = performance.now()
  const ticker = setInterval(() => {
    const seconds = Math.round((performance.now() - started) / 1000)
    say(`Building the control plane: ${lines.length} packages after ${seconds} s`)
  }, 15_000)
  // Go then ends its compilers and removes temporary files.
  const stop = (): void => void child.kill('SIGINT')
  process.once('exit', stop)
  if (signal?.aborted === true) stop()
  signal?.addEventListener('abort', stop, { once: true })
  const code = await new Promise((resolve) => child.once('close', resolve).once('error', resolve))
  clearInterval(ticker)
  process.off('exit', stop)
  signal?.removeEventListener('abort', stop)
  return code === 0 ? undefined : (lines.at(-1) ?? String(code))
}

/** Waits until no other living process holds the lock; the result releases it. */
async function lock(
  file: string,
  say: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<() => Promise<void>> {
  const told = new Set<string>()
  await waitFor(
    `end of the build that holds ${file}`,
    async () => {
      signal?.throwIfAborted()
      const holder = await take(file)
      if (holder !== undefined && !told.has(holder))
        say(`Process ${holder} is building the control plane; waiting for it`)
      told.add(holder ?? '')
      return holder === undefined ? true : undefined
    },
    DEADLINE,
  )
  return () => rm(file, { force: true })
}

/** Takes the lock, or returns the process that holds it; a dead holder loses it. */
async function take(file: string): Promise<string | undefined> {
  const taken = await writeFile(file, String(process.pid), { flag: 'wx' }).then(
    () => true,
    () => false,
  )
  if (taken) return undefined
  const holder = await readFile(file, 'utf8').catch(() => '')
  if (holder !== '' && !isAlive(Number(holder))) await rm(file, { force: true })
  return holder
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Whether the file exists and is executable. */
export async function isProgram(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
}
