import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { bundlesIn } from './bundles.ts'
import { trusting } from './harness/authorities-env.ts'
import { installObjects } from './harness/commitlet.ts'
import { cacheFolder, type Missing } from './harness/go-build.ts'
import { REQUIRED, SHARED, startControlPlane, type ControlPlane } from './harness/control-plane.ts'
import { leash } from './harness/leash.ts'
import { BUNDLES } from './harness/programs.ts'
import { COUNTED, LONG, SEED } from './harness/sample.ts'
import { stopSignal } from './harness/stop-signal.ts'
import { drawnOf, entriesOf, unitsOf, writeEntries } from './rooms.ts'
import { readOptions, tooOld, type Options } from './run-options.ts'
import { withFewRecords } from './tap-records.ts'
import { TIMES, timesTable } from './times.ts'

const ROOT = join(import.meta.dirname, '..')
/** For one file. */
const LONG_TIMEOUT_S = 1_800
/** The time that tap has to end after it is asked to. */
const STOP_MS = 5_000
/**
 * V8 of a process of tests collects garbage in its own thread: less CPU time, and no wall time where other processes use
 * the cores.
 */
const ONE_THREAD = ['--node-arg=--single-threaded-gc']
const UNIT_LEAVES_OUT: Missing = { missing: 'left out by --unit.' }

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
    if (!options.long)
      say(`Of the matrices a sample runs: --seed=${options.seed} for the same one, --long for all`)
    const times = join(folder, 'times')
    const env = {
      [SHARED]: shared,
      [SEED]: options.seed,
      ...(await writeAuthorities(folder)),
      ...(options.coverage
        ? { [COUNTED]: 'yes' }
        : {
            // Coverage is counted by lines of the sources; for everything else a bundle starts four times as fast.
            [BUNDLES]: await bundlesIn(join(cacheFolder(), 'bundles')),
            NODE_COMPILE_CACHE: join(cacheFolder(), 'compile'),
            NODE_OPTIONS: withFewRecords(process.env['NODE_OPTIONS']),
          }),
      ...(options.required ? { [REQUIRED]: 'yes' } : {}),
      ...(options.long ? { [LONG]: 'yes' } : {}),
      ...(options.times ? { [TIMES]: times } : {}),
    }
    const code = await runTap({ ...options, files: await tapFilesOf(options) }, env, stop)
    if (options.times) say(timesTable(await readFile(times, 'utf8')))
    if (missing !== undefined) say(`SKIPPED: every test that needs a control plane. ${missing}`)
    return code
  } finally {
    if (!('missing' in plane)) await plane.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/**
 * The system's authorities of the tests are one, in a file and in a folder, as OpenSSL names them in the environment: to
 * read and parse the hundreds of a usual system takes 0.2 CPU seconds for each Git engine and program that begins.
 */
async function writeAuthorities(folder: string): Promise<Readonly<Record<string, string>>> {
  const SSL_CERT_DIR = join(folder, 'authorities')
  const SSL_CERT_FILE = join(SSL_CERT_DIR, 'one.pem')
  await mkdir(SSL_CERT_DIR)
  await writeFile(SSL_CERT_FILE, rootCertificates[0] ?? '')
  return trusting(SSL_CERT_FILE, SSL_CERT_DIR, process.env)
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
  const coverage = options.coverage ? [] : ['--disable-coverage', ...ONE_THREAD]
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
async function tapFilesOf({ files, unit, long, coverage, seed }: Options): Promise<readonly string[]> {
  // In other folders a file has both kinds of tests, and those that need a control plane skip themselves.
  if (files.length > 0) return files.filter((file) => !(unit && /^test[\\/]e2e[\\/]/.test(file)))
  const all = globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
  const tried = unit ? unitsOf(all) : all
  const entries = await entriesOf(long || coverage ? tried : drawnOf(tried, seed), { unit })
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
