import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { run } from '../../cli/commands/run.ts'
import type { Terminal } from '../../cli/terminal/terminal.ts'
import type { Step } from '../../cli/terminal/steps.ts'

/** How a call of `commitlet` ended. */
export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** What a call finds besides its words. */
export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  readonly colour?: boolean
  readonly columns?: number
  /** Ctrl-C. */
  readonly signal?: AbortSignal
  /** Told of each line of progress. */
  readonly progress?: (line: string) => void
}

/** Calls `commitlet` in this process, without a kubeconfig unless `env` has one. */
export async function commitlet(words: readonly string[], surroundings: Surroundings = {}): Promise<Ended> {
  const { env = {}, input = '', colour = false, columns } = surroundings
  const written: { out: string; err: string } = { out: '', err: '' }
  const terminal: Terminal = {
    print: (line) => void (written.out += `${line}\n`),
    write: (bytes) => void (written.out += Buffer.from(bytes).toString()),
    warn: (line) => void (written.err += `${line}\n`),
    colour,
    columns,
    progress: surroundings.progress ?? (() => undefined),
    readInput: () => Promise.resolve(input),
    env,
    signal: surroundings.signal ?? new AbortController().signal,
  }
  const before = process.env['KUBECONFIG']
  process.env['KUBECONFIG'] = env['KUBECONFIG'] ?? '/nowhere'
  try {
    const code = await run(words, terminal, '1.2.3')
    return { code, stdout: written.out, stderr: written.err }
  } finally {
    if (before === undefined) delete process.env['KUBECONFIG']
    else process.env['KUBECONFIG'] = before
  }
}

/** The steps that `-o json` has printed, by their names; of several with one name the last. */
export function stepsIn({ stdout }: Ended): Readonly<Record<string, Step>> {
  const { steps } = JSON.parse(stdout) as { readonly steps: readonly Step[] }
  return Object.fromEntries(steps.map((step) => [step.step, step]))
}

/** Writes the objects into a file of its own, which the test removes; returns its path. */
export async function fileOf(t: Pick<Test, 'teardown'>, ...objects: readonly object[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-cli-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const file = join(folder, 'objects.yaml')
  await writeFile(file, objects.map((object) => JSON.stringify(object)).join('\n---\n'))
  return file
}
