import { loadavg } from 'node:os'
import { table } from '../statistics.ts'
import type { Limit } from './request-limit.ts'
import { openAll } from './open-all.ts'
import type { Load, Tally } from './open-all.ts'

const SIZE = { resources: 1_000, repositories: 50 }
/** Requests that an opened pull request may take, refused ones included. */
const MOST_PER_OPENED = 4
/** No case starts after this time: the whole run takes 3 minutes at most. */
const LATEST_START_MS = 120_000

const MAIN: Limit = { kind: 'primary', most: 100 }
/** 80 creations per minute is GitHub's documented limit for requests that create content. */
const CASES: readonly (Pick<Load, 'limit' | 'waitsForLimits'> & { readonly name: string })[] = [
  { name: '100 per minute, limits not remembered', limit: MAIN, waitsForLimits: false },
  { name: '100 per minute', limit: MAIN, waitsForLimits: true },
  {
    name: '80 creations per minute, no Retry-After',
    limit: { kind: 'secondary', most: 80 },
    waitsForLimits: true,
  },
  { name: '500 per minute', limit: { kind: 'primary', most: 500 }, waitsForLimits: true },
  { name: '20 per minute', limit: { kind: 'primary', most: 20 }, waitsForLimits: true },
]
const HEADING = 'opened doubles lost requests refused each ratio attempts most minutes real'.split(' ')

interface Measured {
  readonly name: string
  readonly waitsForLimits: boolean
  readonly tally: Tally | undefined
}

process.stdout.write(
  `${SIZE.resources} PullRequests for ${SIZE.repositories} repositories, applied at once, one token; Node ${process.version}, load average ${loadavg()[0]?.toFixed(1)}\n\n`,
)
const measured: Measured[] = []
for (const { name, ...load } of CASES) {
  const tally = performance.now() > LATEST_START_MS ? undefined : await openAll({ ...SIZE, ...load })
  measured.push({ name, waitsForLimits: load.waitsForLimits, tally })
}
const baseline = measured.find(({ waitsForLimits }) => !waitsForLimits)?.tally
process.stdout.write(table(['limit of requests', ...HEADING], measured.map(row)))
process.stdout.write(`
requests  all requests, including those refused because of the limit
each      requests per opened pull request; ratio: requests compared with the run that does not remember limits
attempts  of all resources, including attempts that waited for a limit; most: of one resource
minutes   of virtual time; real: seconds

None lost, none opened twice, no request that GitHub does not document, at most ${MOST_PER_OPENED} requests each?

`)
for (const { name, waitsForLimits, tally } of measured)
  if (waitsForLimits) process.stdout.write(`${verdict(tally)}  ${name}\n`)

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
  if (tally === undefined) return 'not measured, out of time'
  const { opened, doubles, lost, requests, violations } = tally
  const keeps = doubles === 0 && lost === 0 && violations.length === 0
  return keeps && requests / opened <= MOST_PER_OPENED ? 'yes' : 'NO '
}
