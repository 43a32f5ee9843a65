import { readdir, readFile, readlink } from 'node:fs/promises'

/** One process of this machine, as far as this user may read it. */
export interface SeenProcess {
  readonly pid: number
  /** Its arguments, each followed by a space. */
  readonly command: string
  readonly folder: string
}

/** Every process that exists at this moment, from /proc (Linux). */
export async function listProcesses(): Promise<readonly SeenProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  return Promise.all(
    pids.map(async (pid) => ({
      pid: Number(pid),
      command: (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(gone)).replaceAll('\0', ' '),
      folder: await readlink(`/proc/${pid}/cwd`).catch(gone),
    })),
  )
}

/** Processes whose working directory is this folder or below it, even if it was removed meanwhile. */
export async function processesIn(folder: string): Promise<readonly SeenProcess[]> {
  return (await listProcesses()).filter((seen) => seen.folder.startsWith(`${folder}/`))
}

// Ended meanwhile, or another user's.
function gone(): string {
  return ''
}
