import { loadavg } from 'node:os'
import { table } from './figures.ts'
import type { Limit } from './pull-requests-limit.ts'
import { openAll } from './pull-requests-run.ts'
import type { Load, Tally } from './pull-requests-run.ts'

const SIZE = { resources: 1_000, repositories: 50 }
/** Requests that an opened pull request may cost, refused ones included. */
const MOST_PER_OPENED = 4
/** No further case is begun after that: the whole takes 3 minutes at most. */
const LATEST_START_MS = 120_000

const MAIN: Limit = { kind: 'primary', most: 100 }
/** The figures of the last one are GitHub's own for what creates content. */
const CASES: readonly (Pick<Load, 'limit' | 'brake'> & { readonly name: string })[] = [
  { name: '100 a minute, without the brake', limit: MAIN, brake: false },
  { name: '100 a minute', limit: MAIN, brake: true },
  { name: '80 creations a minute, no Retry-After', limit: { kind: 'secondary', most: 80 }, brake: true },
  { name: '500 a minute', limit: { kind: 'primary', most: 500 }, brake: true },
  { name: '20 a minute', limit: { kind: 'primary', most: 20 }, brake: true },
]
const HEADING = 'opened doubles lost requests refused each ratio attempts most minutes real'.split(' ')

interface Measured {
  readonly name: string
  readonly brake: boolean
  readonly tally: Tally | undefined
}

process.stdout.write(
  `${SIZE.resources} PullRequests for ${SIZE.repositories} repositories, applied at once, one token; Node ${process.version}, load average ${loadavg()[0]?.toFixed(1)}\n\n`,
)
const measured: Measured[] = []
for (const { name, ...load } of CASES) {
  const tally = performance.now() > LATEST_START_MS ? undefined : await openAll({ ...SIZE, ...load })
  measured.push({ name, brake: load.brake, tally })
}
const baseline = measured.find(({ brake }) => !brake)?.tally
process.stdout.write(table(['limit of requests', ...HEADING], measured.map(row)))
process.stdout.write(`
requests  all of them, those refused because of the limit included
each      requests per opened pull request; ratio: requests against those without the brake
attempts  of all resources, held back ones included; most: of one resource
minutes   of virtual time; real: seconds

None lost, none double, nothing that GitHub's operations forbid, at most ${MOST_PER_OPENED} requests each?

`)
for (const { name, brake, tally } of measured) if (brake) process.stdout.write(`${verdict(tally)}  ${name}\n`)

function row({ name, tally }: Measured): readonly string[] {
  if (tally === undefined) return [name, ...HEADING.map(() => '-')]
  const { opened, doubles, lost, requests, refused, attempts, mostAttempts } = tally
  return [
    name,
    ...[opened, doubles, lost, requests, refused].map(String),
    (requests / opened).toFixed(2),
    baseline === undefined ? '-' : `${(requests / baseline.requests).toFixed(2)}x`,
    ...[attempts, mostAttempts].map(String),
    (tally.virtualSeconds / 60).toFixed(0),
    tally.realSeconds.toFixed(0),
  ]
}

function verdict(tally: Tally | undefined): string {
  if (tally === undefined) return 'not measured, the time was over'
  const { opened, doubles, lost, requests, violations } = tally
  const keeps = doubles === 0 && lost === 0 && violations.length === 0
  return keeps && requests / opened <= MOST_PER_OPENED ? 'yes' : 'NO '
}
