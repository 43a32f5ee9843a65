import { readFile, writeFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { openApiServer } from '../../functions/cluster/api-server.ts'
import { connectCluster } from '../../functions/cluster/connect.ts'
import { installResources } from '../../test/harness/commitlet.ts'
import { startControlPlane } from '../../test/harness/control-plane.ts'
import { waitFor } from '../../test/harness/wait.ts'
import { figuresOf, resetPeak } from '../burst/process-figures.ts'
import { withTables } from '../scale/page.ts'
import type { Row } from './rows.ts'
import { markdown, text } from './rows.ts'
import { serverOf, settledMaker } from './settled.ts'
import { hourOfLists, listPhases, sweepIdly } from './traffic.ts'

/** As manifests/webhook.yaml has them. */
const REPLICAS = 2
const PAGE = new URL('../../docs/scale.md', import.meta.url)
const RESULTS = new URL('../results/idle.json', import.meta.url)
/** Calls whose CPU is measured: the kernel counts hundredths of a second. */
const LOOKS = 20

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '0,1000,10000,100000' },
    /** Of each size, with the sweeps at rest. */
    seconds: { type: 'string', default: '90' },
    /** As many of them as this follow their sources, every ten minutes; measured alone, without a row in the table. */
    followers: { type: 'string', default: '0' },
    /** Puts the table into docs/scale.md, and the figures into bench/results. */
    write: { type: 'boolean', default: false },
  },
})
const sizes = values.sizes.split(',').map(Number)
const forMs = Number(values.seconds) * 1000

const plane = await startControlPlane({ own: true })
if ('missing' in plane) throw new Error(plane.missing)
try {
  await installResources(plane)
  process.env['KUBECONFIG'] = plane.kubeconfig
  if (values.followers === '0') {
    const rows = await measureAll(plane)
    if (values.write) await record(rows)
  } else await measureFollowers(plane, Number(values.followers))
} finally {
  await plane.stop()
}

/** What followers cost while nothing changes: the sweep of the webhook, and the looks of the function that follow from it. */
async function measureFollowers(of: Parameters<typeof serverOf>[0], count: number): Promise<void> {
  const apiServer = await serverOf(of)
  await settledMaker(of, apiServer, { sync: 'OnChange' })(0, count)
  const { anHour, list } = await measure(count, apiServer.pid)
  const [calls, megabytes] = [Math.round(anHour.calls), Math.round(anHour.bytes / 1_000_000)]
  process.stdout.write(
    `${count} followers: ${calls} calls and ${megabytes} MB an hour; one list of all: ${list.calls} calls\n`,
  )
}

/** Keeps what was recorded of other sizes. */
async function record(measured: readonly Row[]): Promise<void> {
  const recorded = await readFile(RESULTS, 'utf8').catch(() => '{"rows":[]}')
  const { rows: before } = JSON.parse(recorded) as { readonly rows: readonly Row[] }
  const others = before.filter(({ size }) => !sizes.includes(size))
  const rows = [...others, ...measured].toSorted((one, other) => one.size - other.size)
  const results = { node: process.version, replicas: REPLICAS, rows }
  await writeFile(RESULTS, `${JSON.stringify(results, undefined, 2)}\n`)
  await writeFile(PAGE, withTables(await readFile(PAGE, 'utf8'), { idle: markdown(rows) }))
}

async function measureAll(of: Parameters<typeof serverOf>[0]): Promise<readonly Row[]> {
  const apiServer = await serverOf(of)
  const make = settledMaker(of, apiServer)
  const rows: Row[] = []
  let stored = 0
  for (const size of sizes) {
    await make(stored, size)
    process.stdout.write(`${size} are stored\n`)
    stored = size
    rows.push(await measure(size, apiServer.pid))
    process.stdout.write(`${text(rows)}load average ${loadavg()[0]?.toFixed(1)}\n\n`)
  }
  return rows
}

async function measure(size: number, pid: number): Promise<Row> {
  const server = openApiServer()
  // Where many were stored just now, the API server needs a while until it answers for all of them.
  const look = (): Promise<true | undefined> =>
    listPhases(server).then(
      () => true,
      () => undefined,
    )
  await waitFor('lists', look, 600_000)
  const cpuMs = async (): Promise<number> => (await figuresOf(pid)).cpuMs
  const phases = await listPhases(server)
  const cluster = connectCluster(server)
  const beforeLooks = await cpuMs()
  for (let looks = 0; looks < LOOKS; looks += 1) await cluster.listUnsettled('GitCommit')
  const lookCpuMs = ((await cpuMs()) - beforeLooks) / LOOKS
  await resetPeak(process.pid)
  const { residentMB } = await figuresOf(process.pid)
  const beforeList = await cpuMs()
  const used = { cpuMs: 0, grownMB: 0 }
  const listed = async (): Promise<void> => {
    used.cpuMs = (await cpuMs()) - beforeList
    used.grownMB = (await figuresOf(process.pid)).peakMB - residentMB
  }
  const { list, anHour } = await sweepIdly(server, REPLICAS, { forMs, listed })
  return { size, list: { ...list, ...used }, lookCpuMs, before: hourOfLists(list, phases, REPLICAS), anHour }
}
