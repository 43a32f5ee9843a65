import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ControlPlane } from '../../../test/harness/control-plane.ts'
import { configMap, gitCommit, install } from '../../../test/harness/installation.ts'
import type { Installation, Team } from '../../../test/harness/installation.ts'
import type { GitRepository } from '../../../test/harness/git-repository.ts'
import { listProcesses } from '../../../test/harness/processes.ts'
import { startRelay } from '../../../test/harness/relay.ts'
import { freePort, waitFor } from '../../../test/harness/wait.ts'
import { callsOf } from './api-calls.ts'
import { cpuSeconds } from './cpu-seconds.ts'

/** GitCommits that are applied at once: `namespaces` times `each`, each namespace with a repository of its own. */
export interface Burst {
  readonly functions: number
  readonly namespaces: number
  readonly each: number
}

/** What a burst took. CPU in seconds; calls of the API server by "VERB resource". */
export interface MeasuredBurst {
  readonly seconds: number
  readonly pushes: number
  readonly lostRaces: number
  readonly gitRequests: number
  readonly cpu: Readonly<Record<'apiServer' | 'webhook' | 'functions' | 'gitServer', number>>
  readonly calls: Readonly<Record<string, number>>
}

const DEADLINE_MS = 120_000
/** Creations in flight at once. */
const APPLYING = 32
const MOST_CREATIONS = 5

/**
 * Applies a burst on a real API server, with one webhook, this many functions behind a front that calls them in turn,
 * and a Git server, and waits until all are Ready.
 */
export async function measureBurst(plane: ControlPlane, burst: Burst): Promise<MeasuredBurst> {
  const undo: (() => unknown)[] = []
  const t = { teardown: (end: unknown) => void undo.push(end as () => unknown) }
  try {
    const front = await startRelay()
    t.teardown(() => front.close())
    const commitlet = await install(t, plane, {
      functionEnv: { GIT_ENGINE: 'direct' },
      webhookEnv: { K_SINK: front.url },
    })
    const programs = [commitlet.function]
    while (programs.length < burst.functions)
      programs.push(await commitlet.startFunction({ PORT: String(await freePort()) }))
    front.targets.push(...programs.map(({ url }) => url))
    const tenants = await makeTenants(commitlet, burst.namespaces)
    // The first commit of a process loads modules and opens connections.
    const warming = tenants
      .slice(0, 1)
      .flatMap((tenant) => programs.map((_, index) => ({ tenant, name: `warm-${index}` })))
    for (const order of warming) {
      await applyAll(plane, [order])
      await settled(plane, tenants)
    }
    return await measure({ plane, commitlet, tenants, burst, pids: programs.map(({ pid }) => pid) })
  } finally {
    for (const end of undo.toReversed()) await end()
  }
}

interface Tenant {
  readonly team: Team
  readonly repository: GitRepository
}

interface Site {
  readonly plane: ControlPlane
  readonly commitlet: Installation
  readonly tenants: readonly Tenant[]
  readonly burst: Burst
  readonly pids: readonly number[]
}

async function measure(site: Site): Promise<MeasuredBurst> {
  const { plane, commitlet, tenants, burst } = site
  const names = Array.from({ length: burst.each }, (_, index) => `commit-${index}`)
  const work = names.flatMap((name) => tenants.map((tenant) => ({ tenant, name })))
  const before = await look(site)
  commitlet.git.requests.length = 0
  const began = performance.now()
  await applyAll(plane, work)
  await settled(plane, tenants)
  const seconds = (performance.now() - began) / 1000
  const after = await look(site)
  const pushes = commitlet.git.requests.filter(
    ({ exchange, method }) => exchange === 'receive-pack' && method === 'POST',
  ).length
  const cpu = Object.fromEntries(
    Object.entries(after.cpu).map(([part, value]) => [part, value - (before.cpu[part] ?? 0)]),
  )
  const calls = Object.entries(after.calls).map(([call, count]) => [call, count - (before.calls[call] ?? 0)])
  return {
    seconds,
    pushes,
    lostRaces: pushes - (after.moves - before.moves),
    gitRequests: commitlet.git.requests.length,
    cpu: cpu as MeasuredBurst['cpu'],
    calls: Object.fromEntries(calls.filter(([, count]) => Number(count) > 0)),
  }
}

interface Seen {
  readonly cpu: Readonly<Record<string, number>>
  readonly calls: Readonly<Record<string, number>>
  /** How often the branches were moved. */
  readonly moves: number
}

async function look({ plane, commitlet, tenants, pids }: Site): Promise<Seen> {
  const folder = dirname(plane.kubeconfig)
  const servers = (await listProcesses()).filter(({ command }) => command.includes(folder))
  const [apiServer, webhook, functions, own] = await Promise.all([
    cpuSeconds(servers.map(({ pid }) => pid)),
    cpuSeconds([commitlet.webhook.pid]),
    cpuSeconds(pids),
    cpuSeconds([process.pid]),
  ])
  const logs = tenants.map(({ repository }) =>
    readFile(join(repository.path, 'logs/refs/heads/main'), 'utf8').catch(() => ''),
  )
  const moves = (await Promise.all(logs)).join('').split('\n').length
  return {
    // Its children are those of the Git server; the server itself is in this process, as is what applies.
    cpu: {
      apiServer: apiServer.own,
      webhook: webhook.own,
      functions: functions.own + functions.children,
      gitServer: own.children,
    },
    calls: await callsOf(plane),
    moves,
  }
}

async function makeTenants(commitlet: Installation, count: number): Promise<readonly Tenant[]> {
  const tenants: Tenant[] = []
  while (tenants.length < count) {
    const team = await commitlet.createTeam()
    await team.apply(configMap())
    tenants.push({ team, repository: await commitlet.git.createRepository(`${team.namespace}/config`) })
  }
  return tenants
}

interface Order {
  readonly tenant: Tenant
  readonly name: string
}

async function applyAll({ api }: ControlPlane, orders: readonly Order[]): Promise<void> {
  const rest = orders.values()
  const workers = Array.from({ length: APPLYING }, async () => {
    for (const { tenant, name } of rest) {
      const { team, repository } = tenant
      const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: `shops/${name}.yaml` }
      const body = gitCommit(name, repository.url, { branch: 'main', resourceRef })
      await create(api, `/apis/commitlet.dev/v1/namespaces/${team.namespace}/gitcommits`, body)
    }
  })
  await Promise.all(workers)
}

/** On a machine that is too busy, an admission may take too long: it is tried again, as every client of an API does. */
async function create(api: ControlPlane['api'], path: string, body: object): Promise<void> {
  for (let left = MOST_CREATIONS; ; left -= 1) {
    const { status, body: answered } = await api.ask('POST', path, body)
    if (status === 201 || status === 409) return
    if (status < 500 || left === 0) throw new Error(JSON.stringify(answered))
  }
}

async function settled({ api }: ControlPlane, tenants: readonly Tenant[]): Promise<void> {
  const selector = encodeURIComponent('status.phase!=Succeeded')
  for (const { team } of tenants) {
    const path = `/apis/commitlet.dev/v1/namespaces/${team.namespace}/gitcommits?limit=1&fieldSelector=${selector}`
    const isOver = async (): Promise<true | undefined> => {
      const list = (await api.need('GET', path)) as { readonly items: readonly unknown[] }
      return list.items.length === 0 || undefined
    }
    await waitFor('settled GitCommits', isOver, DEADLINE_MS)
  }
}
