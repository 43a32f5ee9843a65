import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Test } from 'tap'

/** The demo as a child process, with a folder for temporary files of its own. */
export interface RunningDemo {
  readonly pid: number
  /** What it has printed so far. */
  stdout(): string
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>
  interrupt(): void
  /** Files in its folder for temporary files, and processes that were started with that folder. */
  leftovers(): Promise<readonly string[]>
}

/** The project's folder. */
export const ROOT = join(import.meta.dirname, '../..')

/** Starts `node demo/main.ts` of the project, or of a copy; it is killed at the test's end where it is still there. */
export async function startDemo(
  t: Test,
  args: readonly string[],
  { env = {}, root = ROOT }: { readonly env?: object; readonly root?: string } = {},
): Promise<RunningDemo> {
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-demo-test-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const child = spawn(process.execPath, [join(root, 'demo/main.ts'), ...args], {
    env: { ...process.env, TMPDIR: folder, FORCE_COLOR: undefined, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout,
    ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr }))),
    interrupt: () => void child.kill('SIGINT'),
    leftovers: async () => [...(await readdir(folder)), ...(await processesWith(folder))],
  }
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

/** Command lines of the processes in whose environment the text stands; none where there is no /proc. */
async function processesWith(text: string): Promise<string[]> {
  const ids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(
    ids.map(async (id) => {
      const environment = await readFile(`/proc/${id}/environ`, 'utf8').catch(() => '')
      if (!environment.includes(text)) return undefined
      return readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => undefined)
    }),
  )
  return lines.filter((line) => line !== undefined).map((line) => line.replaceAll('\0', ' '))
}
