import { percentile, table } from '../statistics.ts'
import type { Apply } from './honest.ts'
import type { Seen } from './keep-running.ts'
import type { Deed } from './siege.ts'

/** What was measured in one run. */
export interface Measured {
  readonly applies: readonly Apply[]
  readonly programs: Readonly<Record<'function' | 'webhook', Seen>>
}

/** How much slower a siege may make the honest tenants, at the median and at the 99th percentile. */
const AIMS = [
  [50, 2],
  [99, 5],
] as const
const STEPS = ['stored', 'admitted', 'landed'] as const
/** Those in which Commitlet has a part: a ConfigMap is stored by the API server and etcd alone. */
const OURS = ['admitted', 'landed'] as const
const HEADING = ['', 'calm p50', 'calm p99', 'siege p50', 'siege p99', 'ratio p50', 'ratio p99', 'no answer']

/** The tables of both runs and of the attacks, and whether the aims are met. Times are in milliseconds. */
export function report(calm: Measured, siege: Measured, deeds: readonly Deed[]): string {
  const latencies = STEPS.map((step) => latencyRow(step, timesOf(calm, step), timesOf(siege, step)))
  const parts = ['function', 'webhook'] as const
  const programs = parts.map((part) => programRow(part, calm.programs[part], siege.programs[part]))
  const verdicts = OURS.flatMap((step) => verdictsOn(step, timesOf(calm, step), timesOf(siege, step)))
  const programHeading = [
    '',
    'calm p99',
    'slowest',
    'siege p50',
    'siege p99',
    'slowest',
    'no answer',
    'ran s',
    'waited s',
    'calm MiB',
    'siege MiB',
    'out of memory',
    'crashes',
  ]
  return [
    `\nHonest tenants, ${calm.applies.length} applies calm and ${siege.applies.length} in the siege, ms; stored: a ConfigMap, without Commitlet\n\n`,
    table(HEADING, latencies),
    '\nLiveness probes (ms), those without an answer in the siege; for how long the main thread ran in the siege, and waited\n',
    'for a processor that others had; peak of the process tree, ends in the siege\n\n',
    table(programHeading, programs),
    '\nThe attacks\n\n',
    ...deeds.map(({ name, deed }) => `${name}: ${deed}\n`),
    `\n${verdicts.join('\n')}\n`,
  ].join('')
}

/** How a bare server answers probes under the flood of events. */
export function floorRow(probes: readonly number[]): string {
  const figures = [percentile(probes, 50), percentile(probes, 99), Math.max(...probes)].map(shown)
  return `\nA bare node:http server under the flood of events alone answers a probe in ${figures.join(', ')} ms (p50, p99, slowest of ${probes.length}).`
}

function timesOf({ applies }: Measured, step: (typeof STEPS)[number]): readonly number[] {
  return applies.map((apply) => apply[step])
}

function latencyRow(step: string, calm: readonly number[], siege: readonly number[]): readonly string[] {
  const figures = [calm, siege].flatMap((times) => AIMS.map(([percent]) => shown(percentile(times, percent))))
  const ratios = AIMS.map(([percent]) => ratioOf(percent, calm, siege)).map(shownRatio)
  return [step, ...figures, ...ratios, `${siege.filter((time) => time === Infinity).length}`]
}

function programRow(part: string, calm: Seen, siege: Seen): readonly string[] {
  const times = [
    ...[percentile(calm.probes, 99), Math.max(...calm.probes)],
    ...[percentile(siege.probes, 50), percentile(siege.probes, 99), Math.max(...siege.probes)],
  ].map(shown)
  const unanswered = siege.probes.filter((time) => time === Infinity).length
  const memory = [calm, siege].map(({ peakMiB }) => peakMiB.toFixed(0))
  const of = `${unanswered} of ${siege.probes.length}`
  const { runs, waits } = siege.scheduled
  return [
    part,
    ...times,
    of,
    runs.toFixed(1),
    waits.toFixed(1),
    ...memory,
    `${siege.outOfMemory}`,
    `${siege.crashes}`,
  ]
}

function verdictsOn(step: string, calm: readonly number[], siege: readonly number[]): readonly string[] {
  return AIMS.map(([percent, most]) => {
    const ratio = ratioOf(percent, calm, siege)
    const verdict = ratio <= most ? 'yes' : 'NO '
    return `${verdict}  ${step}, p${percent}: ${shownRatio(ratio)}, at most ${most}x`
  })
}

function ratioOf(percent: number, calm: readonly number[], siege: readonly number[]): number {
  return percentile(siege, percent) / percentile(calm, percent)
}

function shown(milliseconds: number): string {
  return Number.isFinite(milliseconds) ? milliseconds.toFixed(0) : 'no answer'
}

function shownRatio(ratio: number): string {
  return Number.isFinite(ratio) ? `${ratio.toFixed(1)}x` : 'no answer'
}
