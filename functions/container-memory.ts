import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const MIB = 1024 * 1024
/** In memory.stat: what processes hold, files in memory, and what the kernel holds for them. The first two are of cgroup v1. */
const HELD = ['total_rss', 'total_shmem', 'anon', 'shmem', 'kernel']

/**
 * MiB that this container holds (cgroup v2, else v1) and the kernel cannot take back, as it can what was read from disks.
 * Undefined: it is not known. `root`: of the file system.
 */
export function heldMemory(root = '/'): number | undefined {
  const text = statFiles(root).map(textOf).find(Boolean)
  if (text === undefined) return undefined
  const fields = new Map(
    text
      .split('\n')
      .map((line) => line.split(' '))
      .map(([name = '', value]) => [name, Number(value)]),
  )
  const isFirst = fields.has('total_rss')
  const held = HELD.filter((name) => name.startsWith('total_') === isFirst)
  return held.reduce((sum, name) => sum + (fields.get(name) ?? 0), 0) / MIB
}

/** Where memory.stat may be: at the path of the cgroup, or at the top, where a container sees only its own. */
function statFiles(root: string): readonly string[] {
  const lines = textOf(join(root, 'proc/self/cgroup'))?.split('\n') ?? []
  return lines.flatMap((line) => {
    const [, controllers = '', path = ''] = line.split(':')
    if (controllers !== '' && controllers !== 'memory') return []
    const folder = join(root, 'sys/fs/cgroup', controllers)
    return [join(folder, path, 'memory.stat'), join(folder, 'memory.stat')]
  })
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
