import { median, rounded, spread, type Spread } from '../statistics.ts'
import type { RepositorySize } from '../remote/sample-repository.ts'
import type { GitServers, ServedRepository } from '../remote/servers.ts'
import { peakMemory } from './peak-memory.ts'
import { httpsTarget, sshTarget } from './targets.ts'
import { cloneWriter, commitletWriter, type Target, type Writer } from './writers.ts'

/** Who writes the commit. `warm` has written to this repository before, `cold` begins with nothing. */
export type Contender = keyof typeof CONTENDERS

/** Titles, as the table and the page show them. */
export const CONTENDERS = {
  warm: 'direct engine, warm',
  cold: 'direct engine, cold',
  binary: 'git-binary engine',
  shallow: 'clone --depth=1',
  clone: 'full clone',
  'ssh-warm': 'SSH, direct engine, warm',
  'ssh-cold': 'SSH, direct engine, cold',
  'ssh-shallow': 'SSH, clone --depth=1',
} as const

/** A repository, a line to it, who writes and how often. */
export interface CommitPlan {
  readonly size: RepositorySize
  /** Added to each round trip, in milliseconds. */
  readonly roundTripMs: number
  readonly rounds: number
  /** Of the two slow ones, `shallow` and `clone`. */
  readonly cloneRounds: number
  readonly contenders: readonly Contender[]
  /** Whether the peak of memory is measured, too. */
  readonly memory: boolean
}

/** What one contender needed. */
export interface Contended {
  readonly contender: Contender
  /** Milliseconds. */
  readonly took: Spread
  /** Of one commit over HTTPS: requests, new connections, and milliseconds that the server took for the requests. */
  readonly requests: number
  readonly connections: number
  readonly serverMs: number
  /** Growth of the process and its children in MB, where it was measured. */
  readonly peakMB: number | undefined
}

/** One repository and line, with all contenders. */
export interface CommitCase {
  readonly files: number
  readonly roundTripMs: number
  /** A round trip through the proxy, as it was in fact. */
  readonly measuredMs: number
  readonly contended: readonly Contended[]
}

interface Site {
  readonly servers: GitServers
  /** Where clones and temporary files go. */
  readonly folder: string
}

/** Round trips to begin a connection over HTTPS: TCP, and TLS 1.3. */
const ROUND_TRIPS_TO_CONNECT = 2

/** Round trips of one commit over HTTPS, handshakes included. */
export function roundTripsOf({ requests, connections }: Contended): number {
  return requests + ROUND_TRIPS_TO_CONNECT * connections
}

/** Measures one case: the contenders take turns, each in a copy of the repository that nobody else writes to. */
export async function measureCommits(
  site: Site,
  repository: ServedRepository,
  plan: CommitPlan,
): Promise<CommitCase> {
  const line = await site.servers.delay(plan.roundTripMs)
  const entrants = []
  for (const contender of plan.contenders)
    entrants.push(await enter(site, { contender, repository, line, roundTripMs: plan.roundTripMs }))
  try {
    // The first round only warms up. Taking turns, other load on the machine affects all alike.
    for (let round = 0; round <= plan.rounds; round += 1) {
      const present = entrants.filter(
        ({ contender }) => !isClone(contender) || (round > 0 && round <= plan.cloneRounds),
      )
      for (const entrant of present) await writeOnce(site.servers, entrant, round)
    }
    const contended = []
    for (const entrant of entrants) contended.push(await conclude(entrant, plan.memory))
    const { measuredMs } = line
    return {
      files: plan.size.files,
      roundTripMs: plan.roundTripMs,
      measuredMs: rounded(measuredMs),
      contended,
    }
  } finally {
    await Promise.all(entrants.map(({ writer }) => writer.close()))
  }
}

function isClone(contender: Contender): boolean {
  return contender.endsWith('shallow') || contender === 'clone'
}

interface Entrant {
  readonly contender: Contender
  readonly writer: Writer
  readonly times: number[]
  readonly requests: number[]
  readonly connections: number[]
  readonly serverMs: number[]
}

interface Entry {
  readonly contender: Contender
  readonly repository: ServedRepository
  readonly line: { readonly port: number }
  readonly roundTripMs: number
}

async function enter({ servers, folder }: Site, entry: Entry): Promise<Entrant> {
  const { contender, repository, line, roundTripMs } = entry
  const copy = await servers.copy(repository, `${repository.name}-${roundTripMs}-${contender}`)
  const site = { caFile: servers.caFile, folder }
  const target = contender.startsWith('ssh')
    ? await sshTarget(site, servers.ssh, copy.name)
    : httpsTarget(site, copy.url.replace(`:${servers.port}/`, `:${line.port}/`))
  const writer = writerOf(contender, target)
  return { contender, writer, times: [], requests: [], connections: [], serverMs: [] }
}

function writerOf(contender: Contender, target: Target): Writer {
  switch (contender) {
    case 'warm':
    case 'ssh-warm':
      return commitletWriter(target, { engine: 'direct', warm: true })
    case 'cold':
    case 'ssh-cold':
      return commitletWriter(target, { engine: 'direct', warm: false })
    case 'binary':
      return commitletWriter(target, { engine: 'binary', warm: true })
    case 'shallow':
    case 'ssh-shallow':
      return cloneWriter(target, ['--depth=1'])
    case 'clone':
      return cloneWriter(target, [])
  }
}

async function writeOnce(servers: GitServers, entrant: Entrant, round: number): Promise<void> {
  await entrant.writer.prepare()
  await servers.take()
  const began = performance.now()
  await entrant.writer.write(`round ${round}: ${entrant.contender}\n`)
  const took = performance.now() - began
  const taken = await servers.take()
  if (round === 0) return
  entrant.times.push(took)
  entrant.requests.push(taken.requests)
  entrant.connections.push(taken.connections)
  entrant.serverMs.push(taken.milliseconds)
}

async function conclude(entrant: Entrant, withMemory: boolean): Promise<Contended> {
  const { contender, writer, times } = entrant
  await writer.prepare()
  const peakMB = withMemory
    ? rounded(await peakMemory(() => writer.write(`memory: ${contender}\n`)))
    : undefined
  const [requests = 0, connections = 0, serverMs = 0] = [
    entrant.requests,
    entrant.connections,
    entrant.serverMs,
  ].map((values) => rounded(median(values)))
  return { contender, took: spread(times), requests, connections, serverMs, peakMB }
}
