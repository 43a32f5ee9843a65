import {
  access,
  constants,
  mkdir,
  mkdtemp,
  open,
  readdir,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../../domain/failure.ts'
import { NO_AUTHORITIES } from './bundle.ts'
import { launcherScript } from './launcher-script.ts'
import { HOOKS, PUSH_HOOK } from './push-hook.ts'

/** A separate bare repository for one batch. Paths are absolute. */
export interface Workspace {
  readonly folder: string
  /** Writes the configuration again: a fetch with a filter leaves the remote's URL and a promisor in it. */
  cleanConfig(): Promise<void>
  /** The object that `refs/<name>` points to; undefined if there is no such ref. */
  readRef(name: string): Promise<string | undefined>
  /** Size of all that fetches have written: packs, including those that git left unfinished, what is beside them, `shallow`. */
  fetchedBytes(): Promise<number>
  /** Removes the packs that git left unfinished. */
  removeUnfinished(): Promise<void>
  /** Lines in the first 256 KiB of a file of the repository; none if the file is missing. */
  readLines(name: string): Promise<readonly string[]>
  writeLines(name: string, lines: readonly string[]): Promise<void>
  /** Begins a trace, for a git whose files have at most `limit` bytes, and returns its file. It takes 256 KiB of the disk. */
  startTrace(limit: number): Promise<string>
  /** The lines of the trace that was begun last; none if there is none. */
  readTrace(): Promise<readonly string[]>
  /** Removes the repository. */
  readonly remove: () => Promise<void>
}

const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n'
/** Bytes that are read of a file. */
export const READ_LIMIT = 256 * 1024

/**
 * Creates a repository below `tempDir` that only this user can access. The files are written directly, which saves a
 * run of `git init`.
 */
export async function openWorkspace(tempDir: string): Promise<Workspace> {
  const folder = await mkdtemp(join(tempDir, 'batch-'))
  const workspace = workspaceIn(folder)
  try {
    await writeRepository(folder)
    return workspace
  } catch (error) {
    await workspace.remove()
    throw error
  }
}

async function writeRepository(folder: string): Promise<void> {
  await Promise.all([
    mkdir(join(folder, 'objects', 'pack'), { recursive: true }),
    mkdir(join(folder, 'refs', 'heads'), { recursive: true }),
    mkdir(join(folder, NO_AUTHORITIES)),
    writeHook(join(folder, HOOKS)),
    writeFile(join(folder, 'HEAD'), 'ref: refs/heads/none\n'),
    writeFile(join(folder, 'config'), CONFIG),
    writeFile(join(folder, 'launch'), launcherScript()),
  ])
}

async function writeHook(folder: string): Promise<void> {
  const file = join(folder, 'pre-push')
  await mkdir(folder)
  await writeFile(file, PUSH_HOOK, { mode: 0o700 })
  // Git leaves a hook out that it cannot run, and would push whatever the time is.
  await access(file, constants.X_OK).catch((cause: unknown) => {
    throw new Failure('Internal', NO_HOOK, { cause })
  })
}

const NO_HOOK =
  'The folder for temporary files of Commitlet does not let programs run, which Git needs to check the time of a push; your Commitlet operator has to mount it without `noexec`.'

function workspaceIn(folder: string): Workspace {
  const trace = join(folder, 'packets')
  let traceStart = 0
  return {
    folder,
    cleanConfig: () => writeFile(join(folder, 'config'), CONFIG),
    async readRef(name) {
      const [line] = await readStart(join(folder, 'refs', name))
      return line
    },
    fetchedBytes: () => fetchedBytes(folder),
    removeUnfinished: () => removeUnfinished(join(folder, 'objects', 'pack')),
    readLines: (name) => readStart(join(folder, name)),
    writeLines: (name, lines) => writeFile(join(folder, name), lines.map((line) => `${line}\n`).join('')),
    async startTrace(limit) {
      // Git only appends to it, so what is left up to the limit is all that it can write. A hole takes no disk.
      traceStart = Math.max(0, limit - READ_LIMIT)
      await writeFile(trace, '')
      await truncate(trace, traceStart)
      return trace
    },
    readTrace: () => readStart(trace, traceStart),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}

async function removeUnfinished(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.startsWith('tmp_'))
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true })))
}

async function fetchedBytes(folder: string): Promise<number> {
  const packs = join(folder, 'objects', 'pack')
  const files = (await readdir(packs)).map((name) => join(packs, name))
  const sizes = await Promise.all([...files, join(folder, 'shallow')].map(sizeOf))
  return sizes.reduce((sum, size) => sum + size, 0)
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(ignoreMissing))?.size ?? 0
}

async function readStart(file: string, from = 0): Promise<readonly string[]> {
  const handle = await open(file).catch(ignoreMissing)
  if (handle === undefined) return []
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(READ_LIMIT), 0, READ_LIMIT, from)
    return buffer
      .toString('utf8', 0, bytesRead)
      .split('\n')
      .filter((line) => line !== '')
  } finally {
    await handle.close()
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
