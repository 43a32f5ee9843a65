import { readFileSync } from 'node:fs'

/** Seconds for which a thread ran, and for which it waited for a processor that others had. */
export interface Scheduled {
  readonly runs: number
  readonly waits: number
}

/** Of the main thread of a process, since its start (/proc/PID/schedstat); zeros if there is no such process. */
export function scheduled(pid: number): Scheduled {
  const [runs = 0, waits = 0] = textOf(`/proc/${pid}/schedstat`).split(' ').map(Number)
  return { runs: runs / 1e9, waits: waits / 1e9 }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '0 0'
  }
}
