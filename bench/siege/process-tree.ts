import { readdir, readFile } from 'node:fs/promises'

const PAGE_KIB = 4

/** Resident memory of a process and all its descendants in MiB; 0 if there is no such process. Shared pages count each time. */
export async function residentMiB(root: number): Promise<number> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const parents = new Map<number, number>()
  await Promise.all(names.map(async (name) => parents.set(Number(name), await parentOf(name))))
  const isInside = (pid: number | undefined): boolean =>
    pid !== undefined && pid !== 0 && (pid === root || isInside(parents.get(pid)))
  const sizes = await Promise.all([...parents.keys()].filter(isInside).map(residentOf))
  return sizes.reduce((sum, size) => sum + size, 0)
}

async function parentOf(pid: string): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0)
}

async function residentOf(pid: number): Promise<number> {
  const statm = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '')
  return (Number(statm.split(' ')[1] ?? 0) * PAGE_KIB) / 1024
}
