import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { onApiServer } from './admission/on-api-server.ts'
import { measureWebhookAlone } from './admission/webhook-alone.ts'
import { measureBurst, type Burst, type BurstPlan } from './burst/burst.ts'
import { openBurstSite, type BurstSite } from './burst/site.ts'
import { measureCommits, type CommitCase } from './commit/measure.ts'
import { SIZES, type Plan } from './plan.ts'
import { openAll } from './pull-requests/open-all.ts'
import { startGitServers, type GitServers, type ServedRepository } from './remote/servers.ts'
import type { AdmissionCall, Group, PullRequestRun, Results } from './results.ts'
import { measureStarts } from './start.ts'
import { percentile, rounded } from './statistics.ts'

/** How much later than the end a case may be ready that began in time. */
const GRACE_MS = 60_000

/** What is measured, and where temporary files go. */
export interface Run {
  readonly plan: Plan
  readonly form: 'full' | 'short'
  readonly groups: readonly Group[]
  /** Memory-backed, as in a cluster. */
  readonly folder: string
  readonly say: (line: string) => void
  /** performance.now() at which no further case begins. */
  readonly end: number
}

/** Measures the groups one after the other. What does not begin in time is skipped, and said so. */
export async function measure(run: Run): Promise<Results> {
  const { groups, plan, form, say } = run
  const began = performance.now()
  const before = load()
  const skipped: string[] = []
  const has = (group: Group): boolean => groups.includes(group)
  const starts = has('start') ? await said(say, 'starts', () => measureStarts(plan.startRounds)) : []
  const admission = has('admission') ? await said(say, 'admission', () => admissionCalls(plan, skipped)) : []
  const pullRequests = has('pull-requests')
    ? await said(say, 'pull requests', () => pullRequestRuns(plan))
    : []
  const { commits, bursts, replicas } = await overGit(run, skipped)
  const conditions = {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    processor: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    load: [before, load()] as const,
    minutes: rounded((performance.now() - began) / 60_000),
    form,
  }
  return { conditions, starts, commits, bursts, replicas, admission, pullRequests, skipped }
}

function load(): number {
  return rounded(loadavg()[0] ?? 0)
}

async function said<T>(say: Run['say'], what: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const result = await work()
  say(`${what}: ${((performance.now() - began) / 1000).toFixed(1)} s`)
  return result
}

type OverGit = Pick<Results, 'commits' | 'bursts' | 'replicas'>

/** Everything that needs the Git servers. */
async function overGit(run: Run, skipped: string[]): Promise<OverGit> {
  const wanted = {
    commits: run.groups.includes('commit') ? run.plan.commits : [],
    bursts: run.groups.includes('burst') ? run.plan.bursts : [],
    replicas: run.groups.includes('replicas') ? run.plan.replicas : [],
  }
  if (Object.values(wanted).every((plans) => plans.length === 0))
    return { commits: [], bursts: [], replicas: [] }
  const servers = await startGitServers()
  try {
    const repositoryOf = repositories(servers, run.say)
    const commits: CommitCase[] = []
    for (const plan of wanted.commits) {
      const name = `commits, ${plan.size.files} files, ${plan.roundTripMs} ms`
      if (isOver(run, name, skipped)) continue
      const repository = await repositoryOf(plan.size.files)
      const site = { servers, folder: run.folder }
      commits.push(await said(run.say, name, () => measureCommits(site, repository, plan)))
    }
    const isDone = wanted.bursts.length + wanted.replicas.length === 0
    const site = isDone ? undefined : await openBurstSite(servers, join(run.folder, 'audit'))
    if (site === undefined) return { commits, bursts: [], replicas: [] }
    if ('missing' in site) {
      skipped.push(`bursts and replicas: ${site.missing}`)
      return { commits, bursts: [], replicas: [] }
    }
    const place = { ...run, site, repositoryOf, skipped }
    try {
      const replicas = await burstsOf(place, wanted.replicas)
      return { commits, bursts: await burstsOf(place, wanted.bursts), replicas }
    } finally {
      await site.stop()
    }
  } finally {
    await servers.stop()
  }
}

interface Place extends Run {
  readonly site: BurstSite
  readonly repositoryOf: (files: number) => Promise<ServedRepository>
  readonly skipped: string[]
}

async function burstsOf(place: Place, plans: readonly BurstPlan[]): Promise<readonly Burst[]> {
  const bursts: Burst[] = []
  for (const plan of plans) {
    const { commits, branches, namespaces, replicas, engine } = plan
    const name = `${commits} commits, branches ${branches}, namespaces ${namespaces}, replicas ${replicas}, ${engine}`
    if (isOver(place, name, place.skipped, expectedMs(plan, bursts))) continue
    const repository = await place.repositoryOf(plan.files)
    bursts.push(await said(place.say, name, () => measureBurst(place.site, repository, plan)))
  }
  return bursts
}

/** What took a tenth of the GitCommits so long takes so much longer. */
const TENFOLD = 12

/** Known only of what follows a tenth of it. */
function expectedMs(plan: BurstPlan, bursts: readonly Burst[]): number {
  const tenth = bursts.find(
    ({ commits, branches, namespaces, engine }) =>
      commits === plan.commits / 10 &&
      branches === plan.branches &&
      namespaces === plan.namespaces &&
      engine === plan.engine,
  )
  return (tenth?.seconds.median ?? 0) * TENFOLD * 1_000
}

/** Whether it would end too late; a short one may begin until the end. */
function isOver({ end }: Run, name: string, skipped: string[], expectedMs = 0): boolean {
  const over = performance.now() + Math.max(0, expectedMs - GRACE_MS) > end
  if (over) skipped.push(`${name}: out of time`)
  return over
}

/** Makes each repository when it is first needed. */
function repositories(servers: GitServers, say: Run['say']): (files: number) => Promise<ServedRepository> {
  const made = new Map<number, Promise<ServedRepository>>()
  return (files) => {
    const size = SIZES[files]
    if (size === undefined) throw new Error(`There is no repository of ${files} files.`)
    const repository =
      made.get(files) ??
      said(say, `a repository of ${files} files`, () => servers.create(`files-${files}`, size))
    made.set(files, repository)
    return repository
  }
}

async function admissionCalls(plan: Plan, skipped: string[]): Promise<readonly AdmissionCall[]> {
  const calls = await measureWebhookAlone(true, plan.admission)
  const measured = calls.map(({ name, times }, index) => admissionCall(index === 0 ? 'bare' : name, times))
  if (plan.admission.creations === 0) return measured
  const creations = await onApiServer(true, plan.admission.creations)
  if ('missing' in creations) {
    skipped.push(`creations on an API server: ${creations.missing}`)
    return measured
  }
  return [
    ...measured,
    admissionCall('without', creations.without),
    admissionCall('creation', creations.admitted),
  ]
}

function admissionCall(call: string, times: readonly number[]): AdmissionCall {
  const [p50, p99] = [50, 99].map((percent) => rounded(percentile(times, percent)))
  return { call, count: times.length, p50: p50 ?? NaN, p99: p99 ?? NaN }
}

async function pullRequestRuns({ pullRequests }: Plan): Promise<readonly PullRequestRun[]> {
  const { resources, repositories, perMinute } = pullRequests
  const runs: PullRequestRun[] = []
  for (const remembers of [false, true]) {
    const limit = { kind: 'primary', most: perMinute } as const
    const tally = await openAll({ resources, repositories, limit, waitsForLimits: remembers })
    const { opened, requests, refused, lost, doubles } = tally
    runs.push({ remembers, opened, requests, refused, lost, doubled: doubles })
  }
  return runs
}
