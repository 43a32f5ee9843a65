import { table } from '../statistics.ts'
import type { Traffic } from './traffic.ts'

/** What was measured with so many settled resources. */
export interface Row {
  readonly size: number
  /** One list of everything: also by how many MB it has made the process grow. */
  readonly list: Traffic & { readonly seconds: number; readonly cpuMs: number; readonly grownMB: number }
  /** CPU of the API server for one list of what is not settled. */
  readonly lookCpuMs: number
  /** An hour in which each replica lists everything every five minutes. */
  readonly before: Traffic
  readonly anHour: Traffic
}

const HEADING = [
  'settled resources',
  'one list of everything: calls, MB, seconds',
  'lists alone: calls an hour, MB an hour',
  'calls an hour',
  'MB an hour',
  'of the MB of lists alone',
]

/** The table of docs/scale.md. */
export function markdown(rows: readonly Row[]): string {
  const lines = [HEADING, HEADING.map(() => '---'), ...rows.map(cells)]
  return lines.map((line) => `| ${line.join(' | ')} |`).join('\n')
}

/** The same for a terminal, with what the page tells in words. */
export function text(rows: readonly Row[]): string {
  const more = rows.map(({ size, list, lookCpuMs }) => [
    count(size),
    ...[list.cpuMs, lookCpuMs].map((value) => `${value.toFixed(0)} ms`),
    `${list.grownMB.toFixed(0)} MB`,
  ])
  const columns = ['settled resources', 'CPU of a list', 'CPU of a look', 'memory of a list']
  return `${table(HEADING, rows.map(cells))}\n${table(columns, more)}`
}

function cells({ size, list, before, anHour }: Row): readonly string[] {
  return [
    count(size),
    `${count(list.calls)}, ${megabytes(list.bytes)}, ${list.seconds.toFixed(1)}`,
    `${count(before.calls)}, ${megabytes(before.bytes)}`,
    count(anHour.calls),
    megabytes(anHour.bytes),
    `${((100 * anHour.bytes) / before.bytes).toPrecision(2)} %`,
  ]
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-GB')
}

function megabytes(bytes: number): string {
  const value = bytes / 1_000_000
  return value < 10 ? value.toFixed(1) : count(value)
}
