import { appendFileSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'

/** Names the file to which the processes of the tests write what they took; set by `--times` of test/run.ts. */
export const TIMES = 'COMMITLET_TEST_TIMES'

/** What a process, or a test file in it, took: seconds of CPU, with those of children that it waited for, and of a clock. */
interface Spent {
  readonly name: string
  readonly process: string
  readonly cpu: number
  readonly wall: number
}

/** utime, stime, cutime and cstime of proc_pid_stat(5), counted from the state, which is the third. */
const CPU_FIELDS = { first: 11, last: 14 } as const
const TICKS_PER_SECOND = 100

function cpuSeconds(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = fields.slice(CPU_FIELDS.first, CPU_FIELDS.last + 1).map(Number)
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS_PER_SECOND
}

/** Starts to measure; the returned function notes what was taken since, under this name, if `--times` asks for it. */
export function timed(name: string): () => void {
  const file = process.env[TIMES]
  if (file === undefined) return () => undefined
  const began = { cpu: cpuSeconds(), wall: performance.now() / 1000 }
  return () => {
    const cpu = cpuSeconds() - began.cpu
    const wall = performance.now() / 1000 - began.wall
    appendFileSync(file, `${JSON.stringify({ name, process: processName(), cpu, wall } satisfies Spent)}\n`)
  }
}

/** Notes at the end of this process what it took in all. */
export function timeProcess(): void {
  const file = process.env[TIMES]
  if (file === undefined) return
  process.once('exit', () => {
    const name = processName()
    const spent: Spent = { name, process: name, cpu: cpuSeconds(), wall: performance.now() / 1000 }
    appendFileSync(file, `${JSON.stringify(spent)}\n`)
  })
}

function processName(): string {
  return basename(process.argv[1] ?? '')
}

/** The table of what was noted: processes, the largest first, and below each its test files. */
export function timesTable(notes: string): string {
  const spent = notes
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Spent => JSON.parse(line))
    .sort((one, other) => other.cpu - one.cpu)
  const processes = spent.filter(({ name, process }) => name === process)
  const lines = processes.flatMap((whole) => [
    line(whole),
    ...spent.filter((one) => one.process === whole.name && one !== whole).map((one) => `  ${line(one)}`),
  ])
  const sum = processes.reduce((sum, { cpu }) => sum + cpu, 0)
  return ['CPU s  clock s', ...lines, `${sum.toFixed(2)} CPU s in ${processes.length} processes`, ''].join(
    '\n',
  )
}

function line({ name, cpu, wall }: Spent): string {
  return `${cpu.toFixed(2).padStart(6)} ${wall.toFixed(2).padStart(7)}  ${name}`
}
