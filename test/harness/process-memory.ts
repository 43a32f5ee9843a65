import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

const EVERY_MS = 20

/**
 * MiB that a process and all below it hold at their peak while the work runs; shared pages count in proportion (PSS of
 * /proc/PID/smaps_rollup).
 */
export function peakOfTree(root: number, work: () => Promise<unknown>): Promise<number> {
  return peakDuring(work, { everyMs: EVERY_MS, look: async () => memoryOf(await treeOf(root)) })
}

/** The largest value that `look` has returned while the work ran. */
export async function peakDuring(
  work: () => Promise<unknown>,
  { everyMs, look }: { readonly everyMs: number; readonly look: () => Promise<number> },
): Promise<number> {
  let peak = 0
  const end = new AbortController()
  const watching = watch(end.signal, everyMs, async () => {
    peak = Math.max(peak, await look())
  })
  try {
    await work()
  } finally {
    end.abort()
    await watching
  }
  return peak
}

async function watch(signal: AbortSignal, everyMs: number, look: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await look()
    await pause(everyMs)
  }
}

/** MiB of these processes together. */
export async function memoryOf(pids: readonly number[]): Promise<number> {
  const sizes = await Promise.all(pids.map(proportional))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** The process and all below it. */
export async function treeOf(root: number): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const parents = new Map(await Promise.all(pids.map(async (pid) => [pid, await parentOf(pid)] as const)))
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && pid !== 0 && (pid === root || isBelow(parents.get(pid)))
  return pids.filter(isBelow)
}

async function parentOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0)
}

async function proportional(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024
}
