import { SHIPPED } from './installations.ts'
import { burst, sharedBranch, stream, type Arrival } from './simulation/loads.ts'
import { distance, MEASURED_POINTS, type Compared } from './measured-points.ts'
import { simulate, type Installation, type Outcome } from './simulation/simulate.ts'

/** The seed of everything on the page. */
const SEED = 1
const SECONDS_PER_HOUR = 3_600
/** Of an hour, so much is simulated. */
const MINUTES = 6

type Cells = readonly (string | number)[]

const TABLES: Readonly<Record<string, () => string>> = { points, hours, targets, replicas, webhooks, brokers }

/** The names of the tables of docs/scale.md. */
export const SCALE_TABLES: readonly string[] = Object.keys(TABLES)

/** These tables of docs/scale.md by name, as Markdown. The same for every run. */
export function scaleTables(names = SCALE_TABLES): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, TABLES[name]?.() ?? '']))
}

function points(): string {
  const rows = MEASURED_POINTS.map(({ name, installation, load, measured }) => {
    const outcome = simulate(installation, load, SEED)
    const cell = (compared: Compared): string => {
      const range = measured[compared]
      if (range === undefined) return ''
      const [least, most] = range
      const ends = least === most ? [least] : range
      const off = distance(outcome, compared, range)
      const shown = off < 1.05 ? '' : ` (${off.toFixed(1)}x)`
      return `${ends.map(rounded).join(' to ')} : ${rounded(outcome[compared])}${shown}`
    }
    return [name, cell('seconds'), cell('mostPods'), cell('pushes'), cell('lostRaces'), cell('gitRequests')]
  })
  return markdown(['measured : simulated', 'seconds', 'pods', 'pushes', 'lost races', 'Git requests'], rows)
}

const BURSTS: readonly (readonly [name: string, load: readonly Arrival[]])[] = [
  ['1,000 on one branch', burst(1, 1_000)],
  ['ten namespaces, 100 on each one’s branch', burst(10, 100)],
  ['fifty namespaces, 20 on each one’s branch', burst(50, 20)],
  ['ten namespaces, 100 each on one branch', sharedBranch(10, 100)],
]

type Named = readonly (readonly [name: string, installation: Installation])[]

function burstTable(head: string, installations: Named, bursts = BURSTS): string {
  const rows = installations.map(([name, installation]) => [
    name,
    ...bursts.map(([, load]) => burstCell(simulate(installation, load, SEED))),
  ])
  return markdown([head, ...bursts.map(([name]) => name)], rows)
}

function burstCell({ seconds, mostPods, pushes, lostRaces }: Outcome): string {
  return `${rounded(seconds)} s, ${mostPods} ${mostPods === 1 ? 'pod' : 'pods'}, ${grouped(pushes)} pushes, ${grouped(lostRaces)} lost`
}

function targets(): string {
  const withTarget = (target: number): [string, Installation] => [
    `${target}`,
    { ...SHIPPED, scaling: { ...SHIPPED.scaling, target, maxScale: 10 } },
  ]
  return burstTable('`target`', [64, 128, 200, 300, 400, 1_000].map(withTarget))
}

const REPLICA_BURSTS: typeof BURSTS = [
  ['800 on one branch', burst(1, 800)],
  ['eight namespaces, 100 each on one branch', sharedBranch(8, 100)],
  ['a hundred namespaces, 8 on each one’s branch', burst(100, 8)],
]

function replicas(): string {
  const withPods = (pods: number): [string, Installation] => [
    `${pods}`,
    { ...SHIPPED, scaling: { ...SHIPPED.scaling, minScale: pods, maxScale: pods } },
  ]
  return burstTable('pods', [1, 2, 4, 8].map(withPods), REPLICA_BURSTS)
}

function webhooks(): string {
  const cases = [
    [2, 300],
    [4, 300],
    [4, 600],
  ] as const
  return burstTable(
    'replicas of the webhook, `target`',
    cases.map(([replicas, target]) => [
      `${replicas}, ${target}`,
      { ...SHIPPED, webhooks: replicas, scaling: { ...SHIPPED.scaling, target, maxScale: 10 } },
    ]),
  )
}

const ORDERED = { order: 'ordered', partitions: 100 } as const
const UNORDERED = { order: 'unordered', partitions: 100 } as const

function brokers(): string {
  return burstTable('between webhook and function', [
    ['nothing', SHIPPED],
    ['Kafka, ordered, 100 partitions', { ...SHIPPED, broker: ORDERED }],
    ['Kafka, unordered', { ...SHIPPED, broker: UNORDERED }],
  ])
}

interface Hour {
  readonly name: string
  readonly perHour: number
  readonly branches: number
  readonly installation?: Partial<Installation>
}

const TWO_PODS = { scaling: { ...SHIPPED.scaling, minScale: 2, maxScale: 2 } }

const HOURS: readonly Hour[] = [
  { name: '1,000, 100 branches', perHour: 1_000, branches: 100 },
  { name: '10,000, 100 branches', perHour: 10_000, branches: 100 },
  { name: '100,000, 100 branches', perHour: 100_000, branches: 100 },
  { name: '1,000, one branch', perHour: 1_000, branches: 1 },
  { name: '10,000, one branch', perHour: 10_000, branches: 1 },
  { name: '100,000, one branch', perHour: 100_000, branches: 1 },
  { name: '10,000, 100 branches, two pods', perHour: 10_000, branches: 100, installation: TWO_PODS },
  { name: '100,000, 100 branches, two pods', perHour: 100_000, branches: 100, installation: TWO_PODS },
  { name: '100,000, one branch, two pods', perHour: 100_000, branches: 1, installation: TWO_PODS },
  {
    name: '10,000, one branch, a host that takes 6 pushes a minute',
    perHour: 10_000,
    branches: 1,
    installation: { host: { ...SHIPPED.host, pushesPerMinute: 6 } },
  },
  {
    name: '100,000, 100 branches, two pods, Kafka ordered',
    perHour: 100_000,
    branches: 100,
    installation: { ...TWO_PODS, broker: ORDERED },
  },
  {
    name: '10,000, one branch, Kafka ordered',
    perHour: 10_000,
    branches: 1,
    installation: { broker: ORDERED },
  },
]

function hours(): string {
  const rows = HOURS.map(({ name, perHour, branches, installation = {} }) => {
    const load = stream({ perHour, minutes: MINUTES, namespaces: 50, branches, seed: SEED })
    const outcome = simulate({ ...SHIPPED, ...installation }, load, SEED)
    return [name, ...hourCells(outcome, perHour / load.length)]
  })
  const head = 'GitCommits an hour | CPU of function, webhook, API server | pods on average, most'
  const rest =
    'writes a second | pushes an hour | most to one repository in a minute | Git requests an hour | lost races, of them by an old tip | p50, p99'
  return markdown(`${head} | ${rest}`.split(' | '), rows)
}

/** The cells of an hour; `times`: how much more arrives in an hour than was drawn for the simulated time. */
function hourCells(outcome: Outcome, times: number): Cells {
  const { cpu, seconds } = outcome
  const anHour = (count: number): string => grouped(count * times)
  const cores = (used: number): string => ((used * times) / SECONDS_PER_HOUR).toPrecision(2)
  const pods = outcome.podSeconds / Math.max(seconds, MINUTES * 60)
  return [
    [cpu.pods, cpu.webhook, cpu.apiServer].map(cores).join(', '),
    `${pods.toFixed(1)}, ${outcome.mostPods}`,
    ((outcome.apiWrites * times) / SECONDS_PER_HOUR).toFixed(1),
    anHour(outcome.pushes),
    grouped(outcome.mostPushesPerMinute),
    anHour(outcome.gitRequests),
    `${anHour(outcome.lostRaces)}, ${anHour(outcome.oldTips)}`,
    `${rounded(outcome.p50)} s, ${rounded(outcome.p99)} s`,
  ]
}

function rounded(value: number): string {
  return value < 10 && !Number.isInteger(value) ? value.toFixed(1) : grouped(value)
}

function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function markdown(head: readonly string[], rows: readonly Cells[]): string {
  const line = (cells: Cells): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
