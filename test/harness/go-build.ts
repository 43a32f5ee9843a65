import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { trustingTheMachine } from './authorities-env.ts'
import { waitFor } from './wait.ts'

/** Why there is something missing, as one sentence. */
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

/** Programs that are built from a Go module of tools, which pins their versions. */
export interface GoTools {
  /** Folder of go.mod and go.sum. */
  readonly module: string
  /** Begins the name of their folder in the cache. */
  readonly name: string
  readonly packages: readonly string[]
  /** Their files; the last one is written last. */
  readonly programs: readonly string[]
  /** What they are, in a sentence, with their versions. */
  readonly shown: (goMod: string) => string
  /** How long it takes. */
  readonly minutes: number
  /** The sentence if there is no Go. */
  readonly withoutGo: string
  readonly flags: (goMod: string) => readonly string[]
  /** Variables for Go; default: CGO_ENABLED=0. */
  readonly env?: Readonly<Record<string, string>>
  /** Puts the files that the programs need beside them, before the folder appears. */
  readonly complete?: (folder: string, go: string) => Promise<void>
}

const DEADLINE = 45 * 60_000

/**
 * Builds the programs into the user's cache folder, unless they are there; returns that folder. It appears whole or not at
 * all; a second builder waits for the first.
 */
export async function buildGoTools(
  tools: GoTools,
  go: string | undefined,
  { env, say, signal }: Search,
): Promise<string | Missing> {
  const built = await findBuilt(tools, env)
  if (built !== undefined) return built
  if (go === undefined) return { missing: tools.withoutGo }
  const folder = join(cacheFolder(env), `${tools.name}-${await versionOf(tools)}`)
  await mkdir(dirname(folder), { recursive: true })
  const release = await lock(`${folder}.lock`, say, signal)
  try {
    if ((await findBuilt(tools, env)) !== undefined) return folder
    const goMod = await readFile(join(tools.module, 'go.mod'), 'utf8')
    const failure = await build(tools, { go, folder, goMod, say, signal })
    return failure === undefined
      ? folder
      : { missing: `Go could not build ${tools.programs.join(' and ')}: ${failure}` }
  } finally {
    await release()
  }
}

/** The folder of the programs where they are built already. */
export async function findBuilt(
  tools: GoTools,
  env: Search['env'] = process.env,
): Promise<string | undefined> {
  const folder = join(cacheFolder(env), `${tools.name}-${await versionOf(tools)}`)
  return (await isProgram(join(folder, tools.programs[0] ?? ''))) ? folder : undefined
}

/** Changes with the sources of the programs and the machine that they are for. */
async function versionOf({ module }: GoTools): Promise<string> {
  const sources = await Promise.all(['go.mod', 'go.sum'].map((file) => readFile(join(module, file), 'utf8')))
  const hash = createHash('sha256').update(sources.join('\0')).update(`${process.platform} ${process.arch}`)
  return hash.digest('hex').slice(0, 16)
}

/** The folder of what is built once, below the user's cache folder. */
export function cacheFolder(env: Search['env'] = process.env): string {
  return join(env['XDG_CACHE_HOME'] ?? join(env['HOME'] ?? homedir(), '.cache'), 'commitlet')
}

interface Build {
  readonly go: string
  readonly folder: string
  readonly goMod: string
  readonly say: (line: string) => void
  readonly signal: AbortSignal | undefined
}

async function build(tools: GoTools, { go, folder, goMod, say, signal }: Build): Promise<string | undefined> {
  const part = `${folder}.${process.pid}`
  await rm(part, { recursive: true, force: true, maxRetries: 5 })
  await mkdir(part)
  const { packages, minutes, shown, flags } = tools
  say(`Building ${shown(goMod)}, once (${minutes} minutes on 2 cores), into ${folder}`)
  const args = ['build', '-v', '-trimpath', ...flags(goMod), '-o', `${part}/`, ...packages]
  const failure = await runGo(go, args, { ...tools, say, signal })
  if (failure === undefined) {
    await tools.complete?.(part, go)
    await rename(part, folder)
  } else await rm(part, { recursive: true, force: true, maxRetries: 5 })
  return failure
}

/** The last line of Go's output where it failed. */
async function runGo(
  go: string,
  args: readonly string[],
  { module, name, env: own, say, signal }: GoTools & Pick<Build, 'say' | 'signal'>,
): Promise<string | undefined> {
  const env = { ...trustingTheMachine(process.env), CGO_ENABLED: '0', ...own }
  const child = spawn(go, args, { cwd: module, env, stdio: ['ignore', 'ignore', 'pipe'], timeout: DEADLINE })
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line))
  const started = performance.now()
  const ticker = setInterval(() => {
    const seconds = Math.round((performance.now() - started) / 1000)
    say(`Building ${name}: ${lines.length} packages after ${seconds} s`)
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
        say(`Process ${holder} is building the same; waiting for it`)
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
