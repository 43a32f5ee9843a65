import type { Burst } from './burst/burst.ts'
import {
  CONTENDERS,
  roundTripsOf,
  type CommitCase,
  type Contended,
  type Contender,
} from './commit/measure.ts'
import type { Results } from './results.ts'
import { STARTERS } from './start.ts'
import { median, rounded, type Spread } from './statistics.ts'

/** A figure beside another one of the same run: the load of the machine affects both. Smaller is better. */
export interface Ratio {
  /** Group and case, such as `commit/files-10000/clone`. */
  readonly id: string
  readonly title: string
  readonly value: number
  readonly unit: string
  readonly baseline: string
  readonly base: number
  readonly ratio: number
  /** The ratio of the better quartile: what is worse than a bound even so is not noise. */
  readonly best: number
}

interface Compared {
  readonly id: string
  readonly title: string
  readonly value: Spread | number
  readonly unit: string
  readonly baseline: string
  readonly base: Spread | number
}

/** All ratios of a run, in the order of the table. */
export function ratiosOf(results: Results): readonly Ratio[] {
  return [
    ...startRatios(results),
    ...results.commits.flatMap((one) => commitRatios(one, results.commits)),
    ...burstRatios(results.bursts),
    ...replicaRatios(results.replicas),
    ...admissionRatios(results),
    ...pullRequestRatios(results),
  ].map(compare)
}

function compare({ value, base, ...rest }: Compared): Ratio {
  const [own, other] = [value, base].map((one) => (typeof one === 'number' ? one : one.median))
  const low = typeof value === 'number' ? value : value.low
  const [of = NaN, by = NaN] = [own, other]
  return { ...rest, value: of, base: by, ratio: rounded(of / by), best: rounded(low / by) }
}

function startRatios({ starts, bursts }: Results): readonly Compared[] {
  const bare = starts.find(({ starter }) => starter === 'bare')
  const own = starts.filter(({ starter }) => starter !== 'bare')
  const singles = bursts.filter(({ engine, replicas }) => engine === 'direct' && replicas === 1)
  const [first, second] = [singles.map((one) => one.first.median), singles.map((one) => one.second.median)]
  return [
    ...own.flatMap(({ starter, took, residentMB }) => {
      const { title } = STARTERS[starter]
      const against = { baseline: STARTERS.bare.title }
      return bare === undefined
        ? []
        : [
            { ...against, id: `start/${starter}/time`, title, value: took, unit: 'ms', base: bare.took },
            {
              ...against,
              id: `start/${starter}/memory`,
              title: `${title}, resident`,
              value: residentMB,
              unit: 'MB',
              base: bare.residentMB,
            },
          ]
    }),
    ...(first.length === 0
      ? []
      : [
          {
            id: 'start/first-commit',
            title: 'first commit of a process',
            value: rounded(median(first)),
            unit: 'ms',
            baseline: 'its second',
            base: rounded(median(second)),
          },
        ]),
  ]
}

const AGAINST: readonly (readonly [Contender, Contender])[] = [
  ['warm', 'clone'],
  ['warm', 'shallow'],
  ['warm', 'binary'],
  ['cold', 'shallow'],
  ['cold', 'binary'],
  ['ssh-warm', 'warm'],
  ['ssh-cold', 'cold'],
  ['ssh-cold', 'ssh-shallow'],
]

function commitRatios(one: CommitCase, all: readonly CommitCase[]): readonly Compared[] {
  const [id, where] =
    one.roundTripMs === 0
      ? [`commit/files-${one.files}`, counted(one.files, 'file')]
      : [`commit/rtt-${one.roundTripMs}`, `round trip ${one.roundTripMs} ms`]
  const find = (name: Contender): Contended | undefined =>
    one.contended.find(({ contender }) => contender === name)
  return [
    ...AGAINST.flatMap(([own, other]) => {
      const [of, by] = [find(own), find(other)]
      if (of === undefined || by === undefined) return []
      const titles = { title: `commit, ${where}: ${CONTENDERS[own]}`, baseline: CONTENDERS[other] }
      return [{ ...titles, id: `${id}/${own}-${other}`, value: of.took, unit: 'ms', base: by.took }]
    }),
    ...(['warm', 'cold'] as const).flatMap((own) => {
      const [of, floor] = [find(own), floorOf(one, own, all)]
      if (of === undefined || floor === undefined) return []
      const title = `commit, ${where}: ${CONTENDERS[own]}`
      return [{ id: `${id}/${own}-floor`, title, value: of.took, unit: 'ms', ...floor }]
    }),
  ]
}

/** What cannot be avoided: at 0 ms the server's own time for the requests, else what 0 ms takes and the round trips. */
export function floorOf(
  one: CommitCase,
  contender: Contender,
  all: readonly CommitCase[],
): { readonly baseline: string; readonly base: number } | undefined {
  const find = (where: CommitCase | undefined): Contended | undefined =>
    where?.contended.find((each) => each.contender === contender)
  const own = find(one)
  if (own === undefined) return undefined
  if (one.roundTripMs === 0) return { baseline: "floor: the server's own time", base: own.serverMs }
  const near = find(all.find(({ files, roundTripMs }) => files === one.files && roundTripMs === 0))
  if (near === undefined) return undefined
  const trips = roundTripsOf(own)
  const base = rounded(near.took.median + trips * one.measuredMs)
  return { baseline: `floor: ${trips} round trips and the time at 0 ms`, base }
}

function burstRatios(bursts: readonly Burst[]): readonly Compared[] {
  const like = (one: Burst, other: Partial<Burst>): Burst | undefined =>
    bursts.find((each) => {
      const wanted = { ...one, ...other }
      return (['engine', 'commits', 'branches', 'namespaces', 'files'] as const).every(
        (key) => each[key] === wanted[key],
      )
    })
  return bursts.flatMap((one) => {
    const id = `burst/${idOf(one)}`
    const title = titleOf(one)
    if (one.engine === 'binary') return []
    const binary = like(one, { engine: 'binary' })
    const single = like(one, { commits: 1, branches: 1, namespaces: 1 })
    const tenth = one.commits > 1_000 ? like(one, { commits: one.commits / 10 }) : undefined
    const isMany = one.commits > 1 && single !== undefined
    return [
      ...(binary === undefined ? [] : [againstBinary(one, binary, { id, title })]),
      ...(isMany ? manyRatios(one, single, { id, title }) : []),
      ...(tenth === undefined
        ? []
        : [
            {
              id: `${id}/tenth`,
              title,
              value: one.seconds,
              unit: 's',
              baseline: titleOf(tenth),
              base: tenth.seconds,
            },
          ]),
    ]
  })
}

interface Named {
  readonly id: string
  readonly title: string
}

function againstBinary(one: Burst, binary: Burst, { id, title }: Named): Compared {
  const baseline = 'with the git-binary engine'
  const named = { id: `${id}/binary`, baseline }
  return one.commits === 1
    ? { ...named, title: `${title}, stored to Ready`, value: one.p50, unit: 'ms', base: binary.p50 }
    : { ...named, title, value: one.seconds, unit: 's', base: binary.seconds }
}

function manyRatios(one: Burst, single: Burst, { id, title }: Named): readonly Compared[] {
  const serial = rounded((one.commits * single.p50) / 1000)
  return [
    { id: `${id}/time`, title, value: one.seconds, unit: 's', baseline: 'one after the other', base: serial },
    {
      id: `${id}/pushes`,
      title: `${title}: pushes`,
      value: one.pushes,
      unit: 'per commit',
      baseline: 'one each',
      base: 1,
    },
    {
      id: `${id}/calls`,
      title: `${title}: API calls`,
      value: one.functionCalls,
      unit: 'per commit',
      baseline: 'of one GitCommit',
      base: single.functionCalls,
    },
    {
      id: `${id}/memory`,
      title: `${title}: peak`,
      value: one.peakMB,
      unit: 'MB',
      baseline: 'before it',
      base: one.restMB,
    },
  ]
}

function replicaRatios(all: readonly Burst[]): readonly Compared[] {
  return all.flatMap((one) => {
    const alone = all.find(({ replicas, branches }) => replicas === 1 && branches === one.branches)
    if (one.replicas === 1 || alone === undefined) return []
    const title = `${counted(one.replicas, 'replica')}: ${titleOf(one)}`
    const id = `replicas/${one.replicas}-${idOf(one)}`
    return [{ id, title, value: one.seconds, unit: 's', baseline: 'one replica', base: alone.seconds }]
  })
}

function admissionRatios({ admission }: Results): readonly Compared[] {
  const baselines = { bare: 'bare node:https', without: 'without admission' } as const
  return admission.flatMap(({ call, p50, p99 }) => {
    const against = call === 'creation' ? 'without' : 'bare'
    const base = admission.find((one) => one.call === against)
    if (call === 'bare' || call === 'without' || base === undefined) return []
    const id = `admission/${call.replace(/^\/|,.*/g, '')}${call.includes('each') ? '-reviewed' : ''}`
    const named = { title: `admission: ${call}`, unit: 'ms', baseline: baselines[against] }
    return [
      { ...named, id: `${id}/p50`, title: `${named.title}, p50`, value: p50, base: base.p50 },
      { ...named, id: `${id}/p99`, title: `${named.title}, p99`, value: p99, base: base.p99 },
    ]
  })
}

/** Each takes two requests where nothing is in the way: find, then create. */
const REQUESTS_EACH = 2

function pullRequestRatios({ pullRequests }: Results): readonly Compared[] {
  const [without, run] = [false, true].map((wanted) =>
    pullRequests.find(({ remembers }) => remembers === wanted),
  )
  if (without === undefined || run === undefined) return []
  const each = ({ requests, opened }: typeof run): number => rounded(requests / opened)
  const named = {
    title: 'pull requests at a limited host: requests',
    value: each(run),
    unit: 'each',
  }
  return [
    {
      ...named,
      id: 'pull-requests/limits',
      baseline: 'limits not remembered',
      base: each(without),
    },
    { ...named, id: 'pull-requests/floor', baseline: 'floor: find and create', base: REQUESTS_EACH },
  ]
}

/** Short, for the bounds. */
export function idOf({ commits, branches, namespaces, files }: Burst): string {
  const from = namespaces === 1 ? '' : `-from-${namespaces}`
  return `${commits}-on-${branches}${from}${files === 1 ? '-tiny' : ''}`
}

/** For readers. */
export function titleOf({ commits, branches, namespaces, files }: Burst): string {
  const parts = [
    ...(branches === 1 ? [] : [`${branches} branches`]),
    ...(namespaces === 1 ? [] : [`${namespaces} namespaces`]),
    ...(files === 1 ? ['repository of one file'] : []),
  ]
  return [counted(commits, 'GitCommit'), ...parts].join(', ')
}

/** `1 file`, `10,000 files`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}
