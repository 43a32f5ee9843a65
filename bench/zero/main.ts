import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startControlPlane, type ControlPlane } from '../../test/harness/control-plane.ts'
import { configMap, gitCommit, install, type Installation } from '../../test/harness/installation.ts'
import { watchLandings, type Landings } from '../burst/landings.ts'
import { SIZES } from '../plan.ts'
import type { Program } from '../../test/harness/programs.ts'
import { startGitServers, TOKEN, type GitServers, type ServedRepository } from '../remote/servers.ts'
import { median, table } from '../statistics.ts'
import { openActivator } from './activator.ts'

const ROOT = join(import.meta.dirname, '../..')
const ROUNDS = 5
const MANY = 200
const APPLYING = 32
const DEADLINE_MS = 60_000
/** How much longer than by a function that runs it may take: its start, and the first commit of a process. */
const MOST = { many: 3, one: 25 }

interface Site {
  readonly plane: ControlPlane
  readonly servers: GitServers
  /** Ends the function; the next event starts it. */
  readonly toZero: () => Promise<void>
  readonly landings: Landings
  readonly namespace: string
  readonly repository: ServedRepository
}

/** What some GitCommits took that were applied at once. */
interface Taken {
  /** Milliseconds from the first apply until the last was Ready. */
  readonly ms: number
  readonly pushes: number
}

/** `npm run bench:zero`: GitCommits that start the function, against the same by the one that they have started. */
async function main(): Promise<number> {
  process.stdout.write(`Node ${process.version}, load average ${loadavg()[0]?.toFixed(1)}\n\n`)
  await promisify(execFile)(process.execPath, [join(ROOT, 'build.ts')], { cwd: ROOT })
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-zero-'))
  const undo: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })]
  try {
    const site = await openSite(undo)
    const rows = [await measure(site, MANY), await measure(site, 1)]
    process.stdout.write(
      table(['GitCommits', 'from zero, ms', 'warm, ms', 'ratio', 'pushes'], rows.map(cellsOf)),
    )
    const [many, one] = rows.map(({ cold, warm }) => cold.ms / warm.ms)
    return (many ?? Infinity) <= MOST.many && (one ?? Infinity) <= MOST.one ? 0 : 1
  } finally {
    for (const end of undo.toReversed()) await Promise.resolve(end()).catch(() => undefined)
  }
}

async function openSite(undo: (() => unknown)[]): Promise<Site> {
  const t = { teardown: (end: unknown) => void undo.push(end as () => unknown) }
  const servers = await startGitServers()
  t.teardown(() => servers.stop())
  const plane = await startControlPlane({ own: true })
  if ('missing' in plane) throw new Error(plane.missing)
  t.teardown(() => plane.stop())
  const running: { program?: Program } = {}
  const activator = await openActivator(async () => (running.program = await commitlet.startFunction()).url)
  t.teardown(() => activator.close())
  const commitlet: Installation = await install(t, plane, {
    built: 'cached',
    functionEnv: { CA_FILE: servers.caFile },
    webhookEnv: { K_SINK: activator.url },
  })
  const team = await commitlet.createTeam()
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'git' }, stringData: { token: TOKEN } }
  await team.apply(configMap(), secret)
  const landings = await watchLandings(plane)
  t.teardown(() => landings.stop())
  const size = SIZES[10_000]
  if (size === undefined) throw new Error('There is no repository of 10,000 files.')
  const repository = await servers.create('zero', size)
  await commitlet.function.stop()
  async function toZero(): Promise<void> {
    await running.program?.stop()
    activator.toZero()
  }
  return { plane, servers, toZero, landings, namespace: team.namespace, repository }
}

interface Row {
  readonly count: number
  readonly cold: Taken
  readonly warm: Taken
}

async function measure(site: Site, count: number): Promise<Row> {
  const [cold, warm]: [Taken[], Taken[]] = [[], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    await site.toZero()
    cold.push(await once(site, `cold-${count}-${round}`, count))
    warm.push(await once(site, `warm-${count}-${round}`, count))
  }
  return { count, cold: middleOf(cold), warm: middleOf(warm) }
}

async function once(site: Site, round: string, count: number): Promise<Taken> {
  const { plane, servers, landings, namespace, repository } = site
  const names = Array.from({ length: count }, (_, index) => `${round}-${index}`)
  const todo = [...names]
  const landing = landings.of(names, DEADLINE_MS)
  await servers.take()
  const began = performance.now()
  async function applyNext(): Promise<void> {
    for (let name = todo.shift(); name !== undefined; name = todo.shift()) {
      const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: `zero/${name}.yaml` }
      const body = gitCommit(name, repository.url, { branch: 'main', resourceRef })
      await plane.api.need('POST', `/apis/commitlet.dev/v1/namespaces/${namespace}/gitcommits`, body)
    }
  }
  await Promise.all(Array.from({ length: APPLYING }, applyNext))
  const landed = await landing
  if (landed.size < count) throw new Error(`${landed.size} of ${count} GitCommits became Ready.`)
  const { pushes } = await servers.take()
  return { ms: Math.max(...landed.values()) - began, pushes }
}

function middleOf(all: readonly Taken[]): Taken {
  return { ms: median(all.map(({ ms }) => ms)), pushes: median(all.map(({ pushes }) => pushes)) }
}

function cellsOf({ count, cold, warm }: Row): readonly string[] {
  const times = [cold.ms, warm.ms].map((ms) => ms.toFixed(0))
  return [`${count}`, ...times, `${(cold.ms / warm.ms).toFixed(2)}x`, `${cold.pushes}`]
}

process.exit(await main())
