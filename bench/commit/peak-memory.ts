import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

const EVERY_MS = 5

/**
 * Megabytes that the work needs at its peak: the growth of this process plus the children that the work starts. Shared
 * pages count in proportion (PSS of /proc/PID/smaps_rollup).
 */
export async function peakMemory(work: () => Promise<unknown>): Promise<number> {
  const before = new Set(await descendants())
  const own = await proportional(process.pid)
  let peak = 0
  const end = new AbortController()
  const watching = watch(end.signal, async () => {
    const children = (await descendants()).filter((pid) => !before.has(pid))
    const sizes = await Promise.all([process.pid, ...children].map(proportional))
    peak = Math.max(peak, sizes.reduce((sum, size) => sum + size, 0) - own)
  })
  await work()
  end.abort()
  await watching
  return peak
}

async function watch(signal: AbortSignal, look: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await look()
    await pause(EVERY_MS)
  }
}

async function descendants(): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const parents = new Map(await Promise.all(pids.map(async (pid) => [pid, await parentOf(pid)] as const)))
  const isOurs = (pid: number | undefined): boolean =>
    pid !== undefined && pid !== 0 && (parents.get(pid) === process.pid || isOurs(parents.get(pid)))
  return pids.filter(isOurs)
}

async function parentOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0)
}

async function proportional(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024
}
