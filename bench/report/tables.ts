import { BOUNDS } from '../bounds.ts'
import type { Burst } from '../burst/burst.ts'
import { CONTENDERS, roundTripsOf, type CommitCase, type Contender } from '../commit/measure.ts'
import { floorOf } from '../ratios/commits.ts'
import { ratiosOf } from '../ratios/ratios.ts'
import { counted, titleOf } from '../ratios/titles.ts'
import type { Results } from '../results.ts'
import { STARTERS } from '../start.ts'
import { markdownTable, shown } from './markdown.ts'

const COLUMNS: readonly Contender[] = ['warm', 'cold', 'binary', 'shallow', 'clone']

function cellsOf(one: CommitCase, all: readonly CommitCase[]): readonly string[] {
  const times = COLUMNS.map((contender) => {
    const found = one.contended.find((each) => each.contender === contender)
    return found === undefined ? '' : shown(found.took.median)
  })
  const floors = (['warm', 'cold'] as const).map((contender) => {
    const floor = floorOf(one, contender, all)
    return floor === undefined ? '' : shown(floor.base)
  })
  return [...times, ...floors]
}

const HEADING = [...COLUMNS.map((contender) => CONTENDERS[contender]), 'floor, warm', 'floor, cold']

/** Times by the number of files. */
export function sizeTable(commits: readonly CommitCase[]): string {
  const rows = commits
    .filter(({ roundTripMs }) => roundTripMs === 0)
    .map((one) => [shown(one.files), ...cellsOf(one, commits)])
  return markdownTable(['files', ...HEADING.map((cell) => `${cell}, ms`)], rows, [])
}

/** Times by the round-trip time. */
export function roundTripTable(commits: readonly CommitCase[]): string {
  const [files] = commits.filter(({ roundTripMs }) => roundTripMs > 0).map((one) => one.files)
  const rows = commits
    .filter((one) => one.files === files)
    .map((one) => [shown(one.roundTripMs), ...cellsOf(one, commits)])
  return markdownTable(['ms round trip', ...HEADING.map((cell) => `${cell}, ms`)], rows, [])
}

/** What each contender asks and needs, of the case where memory was measured. */
export function contendersTable(commits: readonly CommitCase[]): string {
  const one = commits.find(({ contended }) => contended.some(({ peakMB }) => peakMB !== undefined))
  if (one === undefined) return ''
  const rows = one.contended.map((each) => {
    const isSSH = each.contender.startsWith('ssh')
    return [
      CONTENDERS[each.contender],
      shown(each.took.median),
      isSSH ? '' : shown(each.requests),
      isSSH ? '' : shown(roundTripsOf(each)),
      each.peakMB === undefined ? '' : each.peakMB.toFixed(0),
    ]
  })
  const heading = [counted(one.files, 'file'), 'ms', 'requests', 'round trips', 'MB at peak']
  return markdownTable(heading, rows)
}

/** Everything about many GitCommits at once. */
export function burstTable(bursts: readonly Burst[]): string {
  const rows = bursts
    .filter(({ commits }) => commits > 1)
    .map((one) => [
      `${titleOf(one)}${one.engine === 'binary' ? ', git-binary engine' : ''}`,
      shown(one.seconds.median),
      shown(one.commits / one.seconds.median),
      shown(one.p50),
      shown(one.p99),
      shown(one.peakMB),
      shown(one.functionCalls),
      shown(one.gitRequests),
      shown(one.pushes),
      shown(one.cpuMs),
    ])
  const heading = [
    '',
    's',
    'per s',
    'p50, ms',
    'p99, ms',
    'MB',
    'API calls',
    'Git requests',
    'pushes',
    'CPU, ms',
  ]
  return markdownTable(heading, rows)
}

/** Times, and what races cost, by the number of replicas. */
export function replicasTable(replicas: readonly Burst[]): string {
  const rows = replicas.map((one) => [
    titleOf(one),
    shown(one.replicas),
    shown(one.seconds.median),
    shown(one.p99),
    shown(one.gitRequests),
    shown(one.pushes),
    `${one.lost}`,
    `${one.doubled}`,
  ])
  const heading = ['', 'replicas', 's', 'p99, ms', 'Git requests', 'pushes', 'lost', 'made twice']
  return markdownTable(heading, rows)
}

/** Starts, and the first GitCommit of a process. */
export function startTable({ starts, bursts }: Results): string {
  const rows = starts.map(({ starter, took, residentMB }) => [
    STARTERS[starter].title,
    shown(took.median),
    shown(residentMB),
  ])
  const singles = bursts.filter(({ engine, replicas }) => engine === 'direct' && replicas === 1)
  const [first] = singles
  const remark =
    first === undefined
      ? ''
      : `\n\nThe first GitCommit of a process takes ${shown(first.first.median)} ms from stored to Ready, the second ${shown(first.second.median)} ms.`
  return `${markdownTable(['', 'ms', 'MB resident'], rows)}${remark}`
}

/** Latencies of admission. */
export function admissionTable({ admission }: Results): string {
  const rows = admission.map(({ call, count, p50, p99 }) => [
    call.startsWith('/') ? `\`${call.replace(/,.*/, '')}\`${call.replace(/^[^,]*/, '')}` : `\`${call}\``,
    shown(count),
    shown(p50),
    shown(p99),
  ])
  return markdownTable(['', 'calls', 'p50, ms', 'p99, ms'], rows)
}

/** Requests for pull requests. */
export function pullRequestTable({ pullRequests }: Results): string {
  const rows = pullRequests.map(({ remembers, opened, requests, refused, lost, doubled }) => [
    remembers ? 'limits are remembered' : 'limits are not remembered',
    ...[opened, requests, refused, lost, doubled].map(String),
  ])
  return markdownTable(['', 'opened', 'requests', 'refused', 'lost', 'made twice'], rows)
}

/** All ratios with their bounds. */
export function ratioTable(results: Results): string {
  const rows = ratiosOf(results).map(({ id, title, value, unit, baseline, base, ratio }) => [
    title,
    `${shown(value)} ${unit}`,
    `${shown(base)}, ${baseline}`,
    `${shown(ratio)}x`,
    BOUNDS[id] === undefined ? '' : `${shown(BOUNDS[id].most)}x`,
  ])
  return markdownTable(['', 'measured', 'baseline', 'ratio', 'bound'], rows, [0, 2])
}
