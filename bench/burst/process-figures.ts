import { readFile, writeFile } from 'node:fs/promises'

/** The kernel's clock ticks in a second, which Linux has fixed for programs (USER_HZ). */
const TICKS = 100
/** Written to clear_refs, it sets the peak of resident memory back to what is resident now (proc(5)). */
const RESET_PEAK = '5'

/** What a process has used. */
export interface ProcessFigures {
  /** Resident memory in MB, at this moment and at its peak. */
  readonly residentMB: number
  readonly peakMB: number
  /** Milliseconds of CPU since its start, its ended children included. */
  readonly cpuMs: number
}

/** From /proc (Linux). */
export async function figuresOf(pid: number): Promise<ProcessFigures> {
  const [status, stat] = await Promise.all(
    ['status', 'stat'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8')),
  )
  const megabytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status ?? '')?.[1] ?? 0) / 1024
  // The fields after the name of the program, which may hold blanks: utime is the twelfth of them.
  const fields = (stat ?? '').slice((stat ?? '').lastIndexOf(')') + 2).split(' ')
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  return { residentMB: megabytes('VmRSS'), peakMB: megabytes('VmHWM'), cpuMs: (ticks / TICKS) * 1000 }
}

/** From now on `peakMB` is the peak since this call. */
export async function resetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, RESET_PEAK)
}
