import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundlePrograms } from '../../../build.ts'
import { startControlPlane } from '../../../test/harness/control-plane.ts'
import { BUNDLES } from '../../../test/harness/programs.ts'
import { stopSignal, until } from '../../../test/harness/stop-signal.ts'
import { table } from '../../statistics.ts'
import { measureBurst, type Burst, type MeasuredBurst } from './burst.ts'
import { measureSweep } from './sweep.ts'

const BURSTS: readonly Burst[] = [
  { functions: 1, namespaces: 1, each: 200 },
  { functions: 3, namespaces: 1, each: 200 },
  { functions: 1, namespaces: 10, each: 20 },
  { functions: 3, namespaces: 10, each: 20 },
]

/** Measures bursts and a sweep with real processes on one machine, and prints them. Takes some five minutes. */
export async function measureAll(): Promise<void> {
  void until(stopSignal()).then(() => process.exit(1))
  const bundles = await mkdtemp(join(tmpdir(), 'commitlet-scale-'))
  try {
    await bundlePrograms(bundles)
    process.env[BUNDLES] = bundles
    const plane = await startControlPlane({ own: true })
    if ('missing' in plane) {
      process.stdout.write(`Not measured: ${plane.missing}\n`)
      return
    }
    try {
      const rows: (readonly string[])[] = []
      for (const burst of BURSTS) rows.push(row(burst, await measureBurst(plane, burst)))
      process.stdout.write(`Load average ${loadavg()[0]?.toFixed(1)}\n\n${table(HEAD, rows)}\n`)
      const { resources, pages, cpuMs } = await measureSweep(plane)
      const each = (cpuMs / pages).toFixed(1)
      process.stdout.write(`A sweep of ${resources} GitCommits: ${pages} pages, ${each} ms of CPU each\n`)
    } finally {
      await plane.stop()
    }
  } finally {
    await rm(bundles, { recursive: true, force: true, maxRetries: 5 })
  }
}

const HEAD = [
  'functions, namespaces x GitCommits',
  'seconds',
  'pushes',
  'lost',
  'Git requests',
  'CPU ms each: API server',
  'webhook',
  'function',
  'Git server',
  'calls each',
  'writes each',
]

function row({ functions, namespaces, each }: Burst, measured: MeasuredBurst): readonly string[] {
  const { seconds, pushes, lostRaces, gitRequests, cpu, calls } = measured
  const commits = namespaces * each
  const cpuMs = [cpu.apiServer, cpu.webhook, cpu.functions, cpu.gitServer]
  const counts = Object.entries(calls)
  const sum = (some: readonly (readonly [string, number])[]): number =>
    some.reduce((total, [, count]) => total + count, 0)
  const writes = counts.filter(([call]) => !/^GET|subjectaccessreviews/.test(call))
  return [
    `${functions}, ${namespaces} x ${each}`,
    seconds.toFixed(1),
    ...[pushes, lostRaces, gitRequests].map(String),
    ...cpuMs.map((used) => ((used * 1000) / commits).toFixed(1)),
    ...[sum(counts), sum(writes)].map((total) => (total / commits).toFixed(1)),
  ]
}
