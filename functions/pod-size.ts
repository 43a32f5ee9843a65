import { statfsSync } from 'node:fs'
import { totalmem } from 'node:os'
import type { Stock } from './attempt/turns/budget.ts'
import { heldMemory } from './container-memory.ts'
import type { PodMemory } from './git/process/memory-watch.ts'
import { WrongSetting } from './domain/settings.ts'

const MIB = 1024 * 1024
/** f_type of statfs(2) for folders in memory: tmpfs and ramfs. */
const IN_MEMORY: readonly number[] = [0x01021994, 0x858458f6]
/** With less, not even one attempt would fit. */
const LEAST_MEMORY_MIB = 256
const LEAST_DISK_MIB = 32
/** The part of its memory that a pod keeps free. */
const KEPT_FREE = 1 / 16

/**
 * What this container has: its memory limit (cgroup v2, else v1, else the machine's memory), and the size of the folder
 * for temporary files. On a disk that others use too, that is what is free now; a folder in memory is ours, and may still
 * hold what a process that was killed has left there.
 * @throws WrongSetting if no attempt would fit
 */
export function readPodSize(tempDir: string): Stock {
  const { type, bsize, blocks, bavail } = statfsSync(tempDir)
  const diskIsMemory = IN_MEMORY.includes(type)
  const size = {
    memoryMiB: memoryLimit(process.constrainedMemory(), totalmem()) / MIB,
    diskMiB: ((diskIsMemory ? blocks : bavail) * bsize) / MIB,
    diskIsMemory,
  }
  requireRoom(size, tempDir)
  return size
}

/** libuv reports 0, or a number above all memory, for a container without a limit. */
export function memoryLimit(constrained: number, total: number): number {
  return constrained > 0 ? Math.min(constrained, total) : total
}

/** How much of its memory this container has left. */
export function podMemory({ memoryMiB }: Pick<Stock, 'memoryMiB'>, held = heldMemory): PodMemory {
  return { freeMiB: () => memoryMiB - (held() ?? 0), leastMiB: memoryMiB * KEPT_FREE }
}

/** @throws WrongSetting that names what is too small */
export function requireRoom({ memoryMiB, diskMiB }: Stock, tempDir: string): void {
  if (memoryMiB < LEAST_MEMORY_MIB)
    throw new WrongSetting(
      `This container has ${Math.floor(memoryMiB)} MiB of memory, but Commitlet needs at least ${LEAST_MEMORY_MIB}; raise its memory limit.`,
    )
  if (diskMiB < LEAST_DISK_MIB)
    throw new WrongSetting(
      `TMPDIR is "${tempDir}", which has room for ${Math.floor(diskMiB)} MiB, but Commitlet needs at least ${LEAST_DISK_MIB}.`,
    )
}

/** A warning if a fetch is limited by the pod rather than by FETCH_LIMIT; undefined: it is not. */
export function fetchWarning(fetchLimitMiB: number, possibleMiB: number): string | undefined {
  if (possibleMiB >= fetchLimitMiB) return undefined
  return `FETCH_LIMIT is ${fetchLimitMiB}, but with the memory and the folder for temporary files of this container one attempt may fetch ${possibleMiB} MiB`
}
