import type { Burst } from '../burst/burst.ts'
import { CONTENDERS, type CommitCase, type Contender } from '../commit/measure.ts'
import { floorOf } from '../ratios/commits.ts'
import type { Results } from '../results.ts'
import { STARTERS } from '../start.ts'
import { drawBars, drawLines, type Point } from './chart.ts'

/** The charts of a run, by their names, as the texts of SVG files. What was not measured has none. */
export function chartsOf(results: Results): ReadonlyMap<string, string> {
  const all = [
    ['commit-by-size', commitBySize(results)],
    ['commit-by-round-trip', commitByRoundTrip(results)],
    ['burst-rate', burstRate(results)],
    ['burst-latency', burstLatency(results)],
    ['replicas', replicas(results)],
    ['start', start(results)],
  ] as const
  return new Map(all.flatMap(([name, svg]) => (svg === undefined ? [] : [[name, svg] as const])))
}

const SHOWN: readonly Contender[] = ['warm', 'cold', 'binary', 'shallow', 'clone']
const FLOORS = { cold: 'floor, cold', warm: 'floor, warm' } as const
/** The same contender has the same colour in each chart. */
const COLOURS = [...SHOWN.map((contender) => CONTENDERS[contender]), ...Object.values(FLOORS)]

function pointsOf(cases: readonly CommitCase[], x: (one: CommitCase) => number): readonly Point[] {
  return SHOWN.flatMap((contender) =>
    cases.flatMap((one) => {
      const found = one.contended.find((each) => each.contender === contender)
      return found === undefined ? [] : [{ x: x(one), y: found.took.median, line: CONTENDERS[contender] }]
    }),
  )
}

function commitBySize({ commits }: Results): string | undefined {
  const cases = commits.filter(({ roundTripMs }) => roundTripMs === 0)
  if (cases.length < 2) return undefined
  return drawLines({
    title: 'Milliseconds of one commit by the size of the repository',
    points: pointsOf(cases, ({ files }) => files),
    colours: COLOURS,
    x: { label: 'files in the repository', log: true, ticks: cases.map(({ files }) => files) },
    y: { label: 'ms for one commit', log: true, ticks: [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000] },
  })
}

function commitByRoundTrip({ commits }: Results): string | undefined {
  const [files] = commits.filter(({ roundTripMs }) => roundTripMs > 0).map((one) => one.files)
  const cases = commits.filter((one) => one.files === files)
  if (cases.length < 2) return undefined
  const floors = (['cold', 'warm'] as const).flatMap((contender) =>
    cases
      .filter(({ roundTripMs }) => roundTripMs > 0)
      .flatMap((one) => {
        const floor = floorOf(one, contender, commits)
        return floor === undefined ? [] : [{ x: one.roundTripMs, y: floor.base, line: FLOORS[contender] }]
      }),
  )
  const points = pointsOf(cases, ({ roundTripMs }) => roundTripMs)
  const own = points.filter(({ line }) => line !== CONTENDERS.clone && line !== CONTENDERS.shallow)
  return drawLines({
    title: 'Milliseconds of one commit by round-trip time',
    points: [...own, ...floors],
    colours: COLOURS,
    x: { label: 'ms round trip', ticks: cases.map(({ roundTripMs }) => roundTripMs) },
    y: { label: 'ms for one commit' },
  })
}

function direct(bursts: readonly Burst[]): readonly Burst[] {
  return bursts.filter(({ engine, files }) => engine === 'direct' && files > 1)
}

function burstRate({ bursts }: Results): string | undefined {
  const shown = direct(bursts).filter(({ namespaces, branches }) => namespaces === 1 || branches > 1)
  const points = shown.map((one) => ({
    x: one.commits,
    y: one.commits / one.seconds.median,
    line: lineOf(one),
  }))
  if (points.length < 2) return undefined
  return drawLines({
    title: 'GitCommits a second by how many are applied at once',
    points: inLines(points),
    x: { label: 'GitCommits applied at once', log: true, ticks: points.map((point) => point.x) },
    y: { label: 'GitCommits Ready per second' },
  })
}

function lineOf({ branches, namespaces }: Burst): string {
  const from = namespaces === 1 ? '' : `, ${namespaces} namespaces`
  return `${branches === 1 ? 'one branch' : `${branches} branches`}${from}`
}

/** Points of one line one after the other, the lines in the order of their first points. */
function inLines(points: readonly Point[]): readonly Point[] {
  return [...Map.groupBy(points, ({ line }) => line).values()].flatMap((line) =>
    line.toSorted((one, other) => one.x - other.x),
  )
}

function burstLatency({ bursts }: Results): string | undefined {
  const shown = direct(bursts).filter(({ branches, namespaces }) => branches === 1 && namespaces === 1)
  const points = shown.flatMap(({ commits, p50, p99 }) => [
    { x: commits, y: p50, line: 'median' },
    { x: commits, y: p99, line: '99th percentile' },
  ])
  if (shown.length < 2) return undefined
  return drawLines({
    title: 'Milliseconds from stored to Ready by how many are applied at once, one branch',
    points: inLines(points),
    x: { label: 'GitCommits applied at once', log: true, ticks: shown.map(({ commits }) => commits) },
    y: {
      label: 'ms from stored to Ready',
      log: true,
      ticks: [30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000],
    },
  })
}

function replicas({ replicas: all }: Results): string | undefined {
  const points = all
    .filter(({ brokered }) => !brokered)
    .map((one) => ({ x: one.replicas, y: one.seconds.median, line: lineOf(one) }))
  if (points.length < 2) return undefined
  return drawLines({
    title: 'Seconds for 200 GitCommits by replicas',
    points: inLines(points),
    x: { label: 'replicas', ticks: points.map((point) => point.x) },
    y: { label: 'seconds for all' },
  })
}

function start({ starts }: Results): string | undefined {
  if (starts.length === 0) return undefined
  const bars = starts.map(({ starter, took }) => ({ name: STARTERS[starter].title, value: took.median }))
  return drawBars({
    title: 'Milliseconds from spawn to the first answer',
    label: 'ms to the first answer',
    bars,
  })
}
