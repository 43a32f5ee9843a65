import type { ServedRepository } from '../remote/servers.ts'
import { median, percentile, rounded, spread, type Spread } from '../statistics.ts'
import type { Calls } from './audit.ts'
import { commitsOn, makeBranches } from './branches.ts'
import { figuresOf, resetPeak } from './process-figures.ts'
import { clear, once, single } from './round.ts'
import type { BurstSite, Line } from './site.ts'

/** GitCommits that are applied at once, and what they are for. */
export interface BurstPlan extends Line {
  readonly commits: number
  readonly branches: number
  readonly namespaces: number
  /** How often it is done. */
  readonly repeats: number
  /** Files of the repository. */
  readonly files: number
}

/** What was measured. Counts are of one GitCommit, on average. */
export interface Burst {
  readonly engine: Line['engine']
  readonly commits: number
  readonly branches: number
  readonly namespaces: number
  readonly replicas: number
  readonly relayed: boolean
  readonly brokered: boolean
  readonly files: number
  /** From the first apply until the last GitCommit is Ready. */
  readonly seconds: Spread
  /** Milliseconds from stored to Ready, of all repeats together. */
  readonly p50: number
  readonly p99: number
  /** Milliseconds from stored until the ref has moved on the Git server's disk; for single GitCommits alone. */
  readonly toRef: Spread | undefined
  /** Milliseconds from stored to Ready of the first GitCommit of each process, and of the second. */
  readonly first: Spread
  readonly second: Spread
  /** Resident memory of a function: before the burst, and the largest peak of all replicas. */
  readonly restMB: number
  readonly peakMB: number
  readonly cpuMs: number
  /** Calls of the API server by the function, and by the webhook for admission. */
  readonly calls: Readonly<Record<string, number>>
  readonly functionCalls: number
  readonly webhookCalls: number
  readonly gitRequests: number
  readonly pushes: number
  /** GitCommits without their commit, or not Ready in time; and commits beyond one for each. */
  readonly lost: number
  readonly doubled: number
}

const WARM_BRANCH = 'warm-up'
let bursts = 0

/** Does it in a copy of the repository, with functions that have just started and made two commits each. */
export async function measureBurst(
  site: BurstSite,
  original: ServedRepository,
  plan: BurstPlan,
): Promise<Burst> {
  bursts += 1
  const label = `b${bursts}`
  const repository = await site.servers.copy(original, `${original.name}-${label}`)
  const branches = Array.from({ length: plan.branches }, (_, index) => `burst-${index}`)
  await makeBranches(repository, [WARM_BRANCH, ...branches])
  const programs = await site.restart(plan)
  const scene = { site, repository, branches, plan }
  const warm = []
  // Relayed events reach each replica in its turn.
  for (let index = 0; index < 2 * plan.replicas; index += 1)
    warm.push(await single(scene, `${label}-warm-${index}`, WARM_BRANCH))
  const before = await Promise.all(programs.map(({ pid }) => figuresOf(pid)))
  await Promise.all(programs.map(({ pid }) => resetPeak(pid)))
  await Promise.all([site.audit.take(), site.servers.take()])
  const rounds = []
  for (let repeat = 0; repeat < plan.repeats; repeat += 1)
    rounds.push(await once(scene, `${label}-${repeat}`))
  const [calls, taken] = await Promise.all([site.audit.take(), site.servers.take()])
  const after = await Promise.all(programs.map(({ pid }) => figuresOf(pid)))
  const found = await commitsOn(repository, branches)
  await clear(scene)
  const latencies = rounds.flatMap(({ times }) => times)
  const refs = rounds.flatMap(({ toRef }) => toRef)
  const each = plan.commits * plan.repeats
  const sum = (values: readonly number[]): number => values.reduce((one, other) => one + other, 0)
  const { engine, commits, namespaces, replicas, relayed, brokered, files } = plan
  return {
    ...{ engine, commits, branches: plan.branches, namespaces, replicas, relayed, brokered, files },
    seconds: spread(rounds.map(({ seconds }) => seconds)),
    p50: rounded(percentile(latencies, 50)),
    p99: rounded(percentile(latencies, 99)),
    toRef: refs.length === 0 ? undefined : spread(refs),
    first: spread(warm.slice(0, replicas)),
    second: spread(warm.slice(replicas)),
    restMB: rounded(median(before.map(({ residentMB }) => residentMB))),
    peakMB: rounded(Math.max(...after.map(({ peakMB }) => peakMB))),
    cpuMs: rounded((sum(after.map(({ cpuMs }) => cpuMs)) - sum(before.map(({ cpuMs }) => cpuMs))) / each),
    ...callsOf(calls, each),
    gitRequests: rounded(taken.requests / each),
    pushes: rounded(taken.pushes / each),
    lost: Math.max(0, each - Math.min(found, latencies.length)),
    doubled: Math.max(0, found - each),
  }
}

function callsOf(calls: Calls, each: number): Pick<Burst, 'calls' | 'functionCalls' | 'webhookCalls'> {
  const total = (counts: ReadonlyMap<string, number>): number =>
    rounded([...counts.values()].reduce((sum, count) => sum + count, 0) / each)
  const sorted = [...calls.function].toSorted(([, one], [, other]) => other - one)
  return {
    calls: Object.fromEntries(sorted.map(([call, count]) => [call, rounded(count / each)])),
    functionCalls: total(calls.function),
    webhookCalls: total(calls.webhook),
  }
}
