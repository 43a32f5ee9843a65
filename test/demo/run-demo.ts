import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Test } from 'tap'
import { COVERING } from '../harness/programs.ts'
import { processesWith } from '../harness/processes.ts'
import { waitFor } from '../harness/wait.ts'

/** The demo as a child process, with a folder for temporary files of its own. */
export interface RunningDemo {
  readonly pid: number
  /** What it has printed so far. */
  stdout(): string
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>
  /** Sends a signal; with `group`, to its whole process group. */
  stop(signal: NodeJS.Signals, group?: boolean): void
  /** Files in its folder for temporary files, and processes that were started with that folder. */
  leftovers(): Promise<readonly string[]>
  /** Waits until there are none; throws an error that names what is left at the deadline. */
  nothingLeft(deadlineMs: number): Promise<void>
}

/** The project's folder. */
export const ROOT = join(import.meta.dirname, '../..')

const FILES = { demo: 'demo/start.cjs', test: 'test/run.ts' } as const

/** How the demo, or the script `test`, is started; `npm`: by `npm run` instead of node. */
export interface DemoStart {
  readonly script?: keyof typeof FILES
  readonly env?: object
  readonly root?: string
  readonly npm?: boolean
}

/** Starts the demo of the project, or of a copy, in a process group of its own; it is killed at the test's end where it is still there. */
export async function startDemo(
  t: Test,
  args: readonly string[],
  { script = 'demo', env = {}, root = ROOT, npm = false }: DemoStart = {},
): Promise<RunningDemo> {
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-demo-test-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const [command, ...words] = npm
    ? ['npm', 'run', '--silent', script, '--']
    : [process.execPath, join(root, FILES[script])]
  const child = spawn(command, [...words, ...args], {
    cwd: root,
    detached: true,
    // npm would leave its compile cache in the folder, unless there is one elsewhere.
    env: {
      ...uncovered(),
      TMPDIR: folder,
      FORCE_COLOR: undefined,
      ...('NODE_COMPILE_CACHE' in process.env ? {} : { NODE_DISABLE_COMPILE_CACHE: '1' }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const pid = child.pid ?? 0
  const leftovers = async (): Promise<readonly string[]> => [
    ...(await readdir(folder)),
    ...(await processesWith(folder)),
  ]
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return {
    pid,
    stdout: () => stdout,
    ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr }))),
    stop: (signal, group = false) => void process.kill(group ? -pid : pid, signal),
    leftovers,
    async nothingLeft(deadlineMs) {
      const none = async (): Promise<true | undefined> =>
        (await leftovers()).length === 0 ? true : undefined
      await waitFor('end of everything', none, deadlineMs).catch(async (error: unknown) => {
        throw new Error(`Left: ${(await leftovers()).join('; ')}`, { cause: error })
      })
    },
  }
}

// Neither it nor its programs count for the coverage, and with tap's loaders SIGTERM waits until the sources are loaded.
function uncovered(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !COVERING.test(name)))
}

/** A folder for PATH with links to these programs of the machine, and nothing else. */
export function folderWith(t: Test, programs: readonly string[]): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const links = programs.map((program) => {
    const file = folders.map((folder) => join(folder, program)).find((found) => existsSync(found))
    return [program, t.fixture('symlink', file ?? program)]
  })
  return t.testdir(Object.fromEntries(links))
}
