import { memoryOf, peakDuring, treeOf } from '../../test/harness/process-memory.ts'

const EVERY_MS = 5

/**
 * Megabytes that the work needs at its peak: the growth of this process plus the children that the work starts. Shared
 * pages count in proportion (PSS of /proc/PID/smaps_rollup).
 */
export async function peakMemory(work: () => Promise<unknown>): Promise<number> {
  const others = new Set((await treeOf(process.pid)).filter((pid) => pid !== process.pid))
  const own = await memoryOf([process.pid])
  async function growth(): Promise<number> {
    const pids = await treeOf(process.pid)
    return (await memoryOf(pids.filter((pid) => !others.has(pid)))) - own
  }
  return peakDuring(work, { everyMs: EVERY_MS, look: growth })
}
