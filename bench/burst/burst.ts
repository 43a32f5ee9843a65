import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gitCommit } from '../../test/harness/installation.ts'
import { samplePath } from '../remote/sample-repository.ts'
import type { ServedRepository } from '../remote/servers.ts'
import { median, percentile, rounded, spread, type Spread } from '../statistics.ts'
import type { Calls } from './audit.ts'
import { figuresOf, resetPeak } from './process-figures.ts'
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

/** Applies at a time, as many users and pipelines do. */
const APPLYING = 32
const WARM_BRANCH = 'warm-up'
/** The time that a burst may take: for each GitCommit of it, and at least and at most. */
const PATIENCE_EACH_MS = 150
const PATIENCE_MS = { least: 30_000, most: 400_000 }

const run = promisify(execFile)
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
  const scene = { site, repository, branches, plan, label }
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
  const { engine, commits, namespaces, replicas, relayed, files } = plan
  return {
    ...{ engine, commits, branches: plan.branches, namespaces, replicas, relayed, files },
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

interface Scene {
  readonly site: BurstSite
  readonly repository: ServedRepository
  readonly branches: readonly string[]
  readonly plan: BurstPlan
  readonly label: string
}

interface Round {
  readonly seconds: number
  readonly times: readonly number[]
  readonly toRef: readonly number[]
}

async function once(scene: Scene, round: string): Promise<Round> {
  const { site, plan } = scene
  const names = Array.from({ length: plan.commits }, (_, index) => `${round}-${index}`)
  const landing = site.landings.of(names, patienceFor(plan))
  const began = performance.now()
  const stored = new Map<string, number>()
  const todo = names.map((name, index) => ({ name, index }))
  async function applyNext(): Promise<void> {
    for (let next = todo.shift(); next !== undefined; next = todo.shift())
      stored.set(next.name, await apply(scene, next))
  }
  await Promise.all(Array.from({ length: APPLYING }, applyNext))
  const landed = await landing
  const times = names.flatMap((name) => {
    const at = landed.get(name)
    return at === undefined ? [] : [Math.max(0, at - (stored.get(name) ?? 0))]
  })
  const seconds = (Math.max(...landed.values(), began) - began) / 1000
  const toRef = plan.commits === 1 ? [await refMovedAfter(scene, stored.get(names[0] ?? '') ?? 0)] : []
  return { seconds, times, toRef }
}

function patienceFor({ commits }: BurstPlan): number {
  return Math.min(PATIENCE_MS.most, PATIENCE_MS.least + commits * PATIENCE_EACH_MS)
}

/** Milliseconds from stored to Ready. */
async function single(scene: Scene, name: string, branch: string): Promise<number> {
  const landing = scene.site.landings.of([name], PATIENCE_MS.least)
  const stored = await apply(scene, { name, index: 0 }, branch)
  const landed = (await landing).get(name)
  if (landed === undefined) throw new Error(`${name} did not become Ready: ${await statusOf(scene, name)}`)
  return landed - stored
}

async function statusOf({ site }: Scene, name: string): Promise<string> {
  return JSON.stringify((await site.teams[0]?.get(name))?.status)
}

/** Returns when it was stored. The index decides about namespace, branch and path. */
async function apply(
  { site, repository, branches, plan }: Scene,
  { name, index }: { readonly name: string; readonly index: number },
  branch = branches[index % branches.length],
): Promise<number> {
  const team = site.teams[namespaceOf(index, plan)]
  const path = samplePath(index, name)
  const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path }
  const body = gitCommit(name, repository.url, { branch, resourceRef })
  await site.plane.api.need('POST', collectionOf(team?.namespace ?? ''), body)
  return performance.now()
}

/** Where there are enough branches, each belongs to one namespace: otherwise all namespaces write to all branches. */
function namespaceOf(index: number, { branches, namespaces }: BurstPlan): number {
  return (branches < namespaces ? index : index % branches) % namespaces
}

function collectionOf(namespace: string): string {
  return `/apis/commitlet.dev/v1/namespaces/${namespace}/gitcommits`
}

async function refMovedAfter({ repository, branches }: Scene, stored: number): Promise<number> {
  const { mtimeMs } = await stat(join(repository.path, 'refs/heads', branches[0] ?? ''))
  return mtimeMs - (performance.timeOrigin + stored)
}

async function makeBranches({ path }: ServedRepository, branches: readonly string[]): Promise<void> {
  const tip = await git(path, 'rev-parse', 'refs/heads/main')
  const child = run('git', ['update-ref', '--stdin'], { cwd: path })
  child.child.stdin?.end(branches.map((branch) => `create refs/heads/${branch} ${tip}\n`).join(''))
  await child
}

/** Commits on these branches that `main` does not have. */
async function commitsOn({ path }: ServedRepository, branches: readonly string[]): Promise<number> {
  const refs = branches.map((branch) => `refs/heads/${branch}`)
  return Number(await git(path, 'rev-list', '--count', ...refs, '^refs/heads/main'))
}

async function git(path: string, ...args: readonly string[]): Promise<string> {
  return (await run('git', args, { cwd: path })).stdout.trim()
}

/** The next burst begins without what a sweep or a watch would find of this one. */
async function clear({ site, plan }: Scene): Promise<void> {
  for (const { namespace } of site.teams.slice(0, plan.namespaces))
    await site.plane.api.ask('DELETE', collectionOf(namespace))
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
