import { readFile } from 'node:fs/promises'

/** Clock ticks of /proc in a second: USER_HZ, which is 100 on Linux for every architecture that Node supports. */
const TICKS = 100

/** CPU seconds of processes: their own, and those of their children that have ended (proc_pid_stat(5)). */
export async function cpuSeconds(
  pids: readonly number[],
): Promise<{ readonly own: number; readonly children: number }> {
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  // After the name, which may contain anything: the state is the third field, utime the fourteenth.
  const fields = stats.map((stat) =>
    stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number),
  )
  const sum = (...columns: readonly number[]): number =>
    fields.reduce((total, of) => total + columns.reduce((part, column) => part + (of[column] ?? 0), 0), 0) /
    TICKS
  return { own: sum(11, 12), children: sum(13, 14) }
}
