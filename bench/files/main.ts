import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { configMap, gitCommit } from '../../test/harness/installation.ts'
import { openBurstSite, type BurstSite } from '../burst/site.ts'
import { SIZES } from '../plan.ts'
import { startGitServers, type ServedRepository } from '../remote/servers.ts'
import { median, table } from '../statistics.ts'

const ROOT = join(import.meta.dirname, '../..')
const ROUNDS = 21
/** The first ones of a process are slower. */
const WARMING = 3
const FILES = 100
const DEADLINE_MS = 30_000
/** How much longer than one file it may take, with what a busy machine adds. */
const MOST = 10

/** `files` of a GitCommit, by the name of its folder. */
type Contents = (folder: string, round: number) => readonly object[]

const numbers = Array.from({ length: FILES }, (_, index) => index)
const shop = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop' }

/** What is measured; the first is the baseline. */
const ROWS: Readonly<Record<string, Contents>> = {
  'one file': (folder) => [{ path: `${folder}/shop.yaml`, resourceRef: shop }],
  'one field that is set': (_, round) => [
    { path: 'values.yaml', set: [{ field: '.image.tag', value: `v${round}` }] },
  ],
  [`${FILES} texts`]: (folder) =>
    numbers.map((n) => ({ path: `${folder}/${n}.txt`, content: `${folder} ${n}\n` })),
  [`${FILES} keys of one ConfigMap`]: (folder) =>
    numbers.map((n) => ({
      path: `${folder}/${n}.txt`,
      resourceRef: { ...shop, name: 'keys', field: `.data.k${n}` },
    })),
  [`${FILES} ConfigMaps`]: (folder) =>
    numbers.map((n) => ({ path: `${folder}/${n}.yaml`, resourceRef: { ...shop, name: `many-${n}` } })),
}

/** `npm run bench:files`: one GitCommit of many files, against one of one file. */
async function main(): Promise<number> {
  process.stdout.write(`Node ${process.version}, load average ${loadavg()[0]?.toFixed(1)}\n\n`)
  await promisify(execFile)(process.execPath, [join(ROOT, 'build.ts')], { cwd: ROOT })
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-files-'))
  const servers = await startGitServers()
  const site = await openBurstSite(servers, join(folder, 'site'))
  try {
    if ('missing' in site) throw new Error(site.missing)
    const size = SIZES[10_000]
    if (size === undefined) throw new Error('There is no repository of 10,000 files.')
    const repository = await servers.create('files', size)
    await site.restart({ engine: 'direct', replicas: 1, relayed: false, brokered: false })
    await prepare(site, repository)
    const times = await measure(site, repository)
    return report(times)
  } finally {
    if ('stop' in site) await site.stop()
    await servers.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Applies what the GitCommits refer to, and commits the file whose field is set. */
async function prepare(site: BurstSite, repository: ServedRepository): Promise<void> {
  const [team] = site.teams
  const keys = Object.fromEntries(numbers.map((n) => [`k${n}`, `value ${n}\n`]))
  const named = (name: string, data: Record<string, string>): object => ({
    ...configMap(data),
    metadata: { name },
  })
  await team?.apply(named('keys', keys), ...numbers.map((n) => named(`many-${n}`, { n: `${n}` })))
  const content = `image:\n  tag: v0\n${numbers.map((n) => `# comment ${n}\nkey${n}: ${n}\n`).join('')}`
  await once(site, repository, { name: 'values', files: [{ path: 'values.yaml', content }] })
}

async function measure(
  site: BurstSite,
  repository: ServedRepository,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const times = new Map<string, number[]>(Object.keys(ROWS).map((row) => [row, []]))
  for (let round = 1; round <= ROUNDS; round += 1)
    for (const [index, [row, contents]] of Object.entries(ROWS).entries()) {
      const name = `r${round}-${index}`
      const ms = await once(site, repository, { name, files: contents(name, round) })
      if (round > WARMING) times.get(row)?.push(ms)
    }
  return times
}

/** Milliseconds from stored to Ready. */
async function once(
  { plane, teams, landings }: BurstSite,
  repository: ServedRepository,
  { name, files }: { readonly name: string; readonly files: readonly object[] },
): Promise<number> {
  const namespace = teams[0]?.namespace ?? ''
  const landing = landings.of([name], DEADLINE_MS)
  const body = gitCommit(name, repository.url, { branch: 'main', resourceRef: undefined, files })
  await plane.api.need('POST', `/apis/commitlet.dev/v1/namespaces/${namespace}/gitcommits`, body)
  const stored = performance.now()
  const landed = (await landing).get(name)
  if (landed === undefined)
    throw new Error(`${name} did not become Ready: ${JSON.stringify((await teams[0]?.get(name))?.status)}`)
  return landed - stored
}

function report(times: ReadonlyMap<string, readonly number[]>): number {
  const middles = [...times].map(([row, all]) => ({ row, ms: median(all) }))
  const one = middles[0]?.ms ?? NaN
  const rows = middles.map(({ row, ms }) => [row, ms.toFixed(1), `${(ms / one).toFixed(2)}x`])
  process.stdout.write(table(['one GitCommit, stored to Ready', 'ms', 'of one file'], rows))
  return middles.every(({ ms }) => ms / one <= MOST) ? 0 : 1
}

process.exit(await main())
