import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openBundles } from './bundle.ts'
import type { AcquireBundle, Trusted } from './bundle.ts'

/** One folder per process, with what all its sessions share. */
export interface ProcessDir {
  readonly folder: string
  readonly acquireBundle: AcquireBundle
}

/** Makes the folder below `tempDir`, and removes those that killed processes have left there. */
export async function openProcessDir(tempDir: string, trusted: Trusted): Promise<ProcessDir> {
  await removeAbandoned(tempDir)
  const started = await readStart('self')
  const folder = await mkdtemp(join(tempDir, `${PREFIX}${process.pid}-${started ?? ''}-`))
  return { folder, acquireBundle: openBundles(folder, trusted) }
}

const PREFIX = 'commitlet-'

async function removeAbandoned(tempDir: string): Promise<void> {
  for (const name of await readdir(tempDir)) {
    const [, pid, started] = /^commitlet-(\d+)-(\d+)-/.exec(name) ?? []
    if (pid === undefined || (await readStart(pid)) === started) continue
    // What another user has left is theirs.
    await rm(join(tempDir, name), { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined)
  }
}

/**
 * When the process started, in ticks since the machine did; undefined: there is none, or it is dead and only
 * waits for its parent (proc(5), /proc/pid/stat, fields 3 and 22). The number alone says nothing: in a container
 * the next process has the same.
 */
async function readStart(pid: string): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(ignoreEnded)
  // The second field is the program's name in brackets, which may hold anything.
  const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return /^[ZX]?$/.test(state) ? undefined : fields[18]
}

// Anything else, such as too many open files, says nothing of the process.
function ignoreEnded(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT' || error.code === 'ESRCH') return ''
  throw error
}
