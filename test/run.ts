import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { globSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundlePrograms } from '../build.ts'
import { installObjects } from './harness/commitlet.ts'
import { cacheFolder, type Missing } from './harness/control-plane-build.ts'
import { REQUIRED, SHARED, startControlPlane, type ControlPlane } from './harness/control-plane.ts'
import { leash } from './harness/leash.ts'
import { BUNDLES, WORKER } from './harness/programs.ts'
import { LONG, SEED } from './harness/sample.ts'
import { stopSignal } from './harness/stop-signal.ts'
import { entriesOf, writeEntries } from './rooms.ts'

const USAGE = `npm test -- [--unit] [--long] [--seed=SEED] [--coverage] [--require-control-plane] [FILE...]
  --unit                   leave out what needs a control plane: test/e2e, and such tests among others
  --long                   every case of every matrix, floods of full size
  --seed=SEED              the same sample of the matrices as in the run that printed it
  --coverage               write .tap/report/lcov.info and print the table
  --require-control-plane  fail where there is none, or no root for in-cluster.test.ts, instead of skipping
`
const ROOT = join(import.meta.dirname, '..')
const OLDEST_NODE = [22, 19] as const
/** For one file. */
const LONG_TIMEOUT_S = 1_800
/** The time that tap has to end after it is asked to. */
const STOP_MS = 5_000
const UNIT_LEAVES_OUT: Missing = { missing: 'left out by --unit.' }

interface Options {
  readonly unit: boolean
  readonly long: boolean
  readonly seed: string
  readonly coverage: boolean
  readonly required: boolean
  readonly files: readonly string[]
}

/** `npm test`: one control plane for all test files, tap, and tap's exit code. */
async function main(args: readonly string[]): Promise<number> {
  const old = tooOld(process.versions.node)
  if (old !== undefined) return refuse(old)
  const options = readOptions(args)
  if (typeof options === 'string') return refuse(options)
  const stop = stopSignal()
  const plane = options.unit ? UNIT_LEAVES_OUT : await planeOf(stop)
  if (stop.aborted) return refuse('Stopped before the first test.')
  const missing = 'missing' in plane ? plane.missing : undefined
  if (missing !== undefined && options.required) return refuse(`There is no control plane: ${missing}`)
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-test-'))
  try {
    const shared = join(folder, 'control-plane.json')
    if (!('missing' in plane)) await installObjects(plane)
    await ('missing' in plane ? writeFile(shared, JSON.stringify(plane)) : plane.shareIn(shared))
    // Coverage is counted by lines of the sources; for everything else a bundle starts four times as fast.
    if (!options.coverage) {
      const worker = await bundlePrograms(folder)
      await writeFile(join(folder, WORKER), JSON.stringify(worker))
    }
    if (!options.long)
      say(`Of the matrices a sample runs: --seed=${options.seed} for the same one, --long for all`)
    const env = {
      [SHARED]: shared,
      [SEED]: options.seed,
      ...(options.coverage ? {} : { [BUNDLES]: folder, NODE_COMPILE_CACHE: join(cacheFolder(), 'compile') }),
      ...(options.required ? { [REQUIRED]: 'yes' } : {}),
      ...(options.long ? { [LONG]: 'yes' } : {}),
    }
    const code = await runTap({ ...options, files: await tapFilesOf(options) }, env, stop)
    if (missing !== undefined) say(`SKIPPED: every test that needs a control plane. ${missing}`)
    return code
  } finally {
    if (!('missing' in plane)) await plane.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const KNOWN = ['--unit', '--long', '--coverage', '--require-control-plane'] as const

function readOptions(args: readonly string[]): Options | string {
  const flags = new Set(args.filter((arg) => arg.startsWith('-')))
  const [unit = false, long = false, coverage = false, required = false] = KNOWN.map((flag) =>
    flags.delete(flag),
  )
  const given = [...flags].find((flag) => /^--seed=./.test(flag))
  if (given !== undefined) flags.delete(given)
  const [unknown] = flags
  if (unknown !== undefined) return `${unknown} is not known.\n${USAGE}`
  const seed = given?.slice('--seed='.length) ?? String(randomInt(1e6))
  const files = args.filter((arg) => !arg.startsWith('-'))
  return { unit, long, seed, coverage, required, files }
}

/** One sentence where this Node cannot run the sources. */
function tooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return undefined
  return `This is Node ${version}, but ${OLDEST_NODE.join('.')} or newer is needed (24 is best): install it and run npm ci.`
}

async function planeOf(signal: AbortSignal): Promise<ControlPlane | Missing> {
  try {
    const plane = await startControlPlane({ own: true, signal })
    if (!('missing' in plane)) say(`The control plane is ready: ${plane.url}`)
    return plane
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) }
  }
}

function runTap(options: Options, env: Readonly<Record<string, string>>, stop: AbortSignal): Promise<number> {
  const tap = fileURLToPath(import.meta.resolve('tap')).replace(
    /dist[\\/].*$/,
    join('dist', 'esm', 'run.mjs'),
  )
  const coverage = options.coverage ? [] : ['--disable-coverage']
  const timeout = options.long ? [`--timeout=${LONG_TIMEOUT_S}`] : []
  const args = [tap, 'run', ...coverage, ...timeout, ...options.files]
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: 'inherit',
    // A group of its own: tap does not end the processes of its tests, and Ctrl-C comes by way of `stop`.
    detached: true,
    env: { ...process.env, PATH, ...env },
  })
  const group = -(child.pid ?? NaN)
  const untie = leash(group)
  const end = (): void => {
    child.kill('SIGTERM')
    setTimeout(() => child.kill('SIGKILL'), STOP_MS).unref()
  }
  stop.addEventListener('abort', end)
  if (stop.aborted) end()
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => {
      untie()
      killGroup(group)
      resolve(stop.aborted ? 1 : (code ?? 1))
    })
  })
}

function killGroup(group: number): void {
  try {
    process.kill(group, 'SIGKILL')
  } catch {
    // Nothing was left of it.
  }
}

/** The files that the user named, each in its own process; else all files, a room in one process. */
async function tapFilesOf({ files, unit }: Options): Promise<readonly string[]> {
  // In other folders a file has both kinds of tests, and those that need a control plane skip themselves.
  const isLeftOut = (file: string): boolean => unit && /^test[\\/]e2e[\\/]/.test(file)
  if (files.length > 0) return files.filter((file) => !isLeftOut(file))
  const all = globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
  const entries = await entriesOf(
    all.filter((file) => !isLeftOut(file)),
    { unit },
  )
  await writeEntries(entries)
  return entries.map(({ file }) => file)
}

function refuse(sentence: string): number {
  say(sentence)
  return 1
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

process.exitCode = await main(process.argv.slice(2))
