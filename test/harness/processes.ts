import { readdir, readFile, readlink } from 'node:fs/promises'

/** One process of this machine, as far as this user may look at it. */
export interface SeenProcess {
  readonly pid: number
  /** Its arguments, each followed by a space. */
  readonly command: string
  readonly folder: string
}

/** Every process that is there at this moment, by /proc (Linux). */
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

/** Processes that work in this folder or below it, were it removed meanwhile or not. */
export async function processesIn(folder: string): Promise<readonly SeenProcess[]> {
  return (await listProcesses()).filter((seen) => seen.folder.startsWith(`${folder}/`))
}

// Ended between two looks, or another user's.
function gone(): string {
  return ''
}
