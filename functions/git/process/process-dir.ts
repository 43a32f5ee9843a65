import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openBundles } from './bundle.ts'
import type { AcquireBundle, Trusted } from './bundle.ts'

/** One folder per process, for everything that its sessions share. */
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
    // Folders of another user cannot be removed.
    await rm(join(tempDir, name), { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined)
  }
}

/**
 * When the process started, in clock ticks since boot; undefined: there is no such process, or it is a zombie
 * (proc(5), /proc/pid/stat, fields 3 and 22). The process ID alone is not enough: in a container the next process has
 * the same one.
 */
async function readStart(pid: string): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(ignoreEnded)
  // The second field is the program's name in parentheses, which may contain any character.
  const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return /^[ZX]?$/.test(state) ? undefined : fields[18]
}

// Any other error, such as too many open files, does not mean that the process has ended.
function ignoreEnded(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT' || error.code === 'ESRCH') return ''
  throw error
}
