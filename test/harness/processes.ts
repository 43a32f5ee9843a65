import { existsSync, readdirSync } from 'node:fs'
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
  const pids = (await readdir('/proc')).filter(isNumber)
  return Promise.all(pids.map(async (pid) => seenAs(pid, await folderOf(pid))))
}

/**
 * Processes whose working directory is this folder or below it, even if it was removed meanwhile. Waits call it over
 * and over, so it reads the arguments of no others.
 */
export async function processesIn(folder: string): Promise<readonly SeenProcess[]> {
  const pids = (await readdir('/proc')).filter(isNumber)
  const found = await Promise.all(
    pids.map(async (pid) => {
      const own = await folderOf(pid)
      return own.startsWith(`${folder}/`) ? [await seenAs(pid, own)] : []
    }),
  )
  return found.flat()
}

async function seenAs(pid: string, folder: string): Promise<SeenProcess> {
  const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(gone)).replaceAll('\0', ' ')
  return { pid: Number(pid), command, folder }
}

function folderOf(pid: string): Promise<string> {
  return readlink(`/proc/${pid}/cwd`).catch(gone)
}

/** The processes that are older than this module, which none of its tests has started. A number may come back. */
const older = new Set(existsSync('/proc') ? readdirSync('/proc').filter(isNumber) : [])

/**
 * Command lines of the processes whose environment has the text, of those that have started since this module was
 * loaded; none where there is no /proc. Waits call it over and over, so it reads no others.
 */
export async function processesWith(text: string): Promise<readonly string[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter(isNumber)
  const alive = new Set(pids)
  for (const pid of older) if (!alive.has(pid)) older.delete(pid)
  const younger = pids.filter((pid) => !older.has(pid) && pid !== String(process.pid))
  const lines = await Promise.all(
    younger.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(gone)
      if (!environment.includes(text)) return ''
      return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(gone)).replaceAll('\0', ' ').trim()
    }),
  )
  return lines.filter((line) => line !== '')
}

function isNumber(name: string): boolean {
  return /^\d+$/.test(name)
}

// Ended meanwhile, or another user's.
function gone(): string {
  return ''
}
