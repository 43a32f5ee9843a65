import { dirname } from 'node:path'
import type { ControlPlane } from '../../../test/harness/control-plane.ts'
import { listProcesses } from '../../../test/harness/processes.ts'
import { cpuSeconds } from './cpu-seconds.ts'

/** As functions/cluster/list.ts asks for a page. */
const PAGE = 'limit=50'
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
const ROUNDS = 10

/** Milliseconds of CPU that API server and etcd need to list all GitCommits in pages, and how many there are. */
export async function measureSweep(plane: ControlPlane): Promise<{
  readonly resources: number
  readonly pages: number
  readonly cpuMs: number
}> {
  const folder = dirname(plane.kubeconfig)
  const pids = (await listProcesses()).filter(({ command }) => command.includes(folder)).map(({ pid }) => pid)
  const before = await cpuSeconds(pids)
  let [pages, resources] = [0, 0]
  for (let round = 0; round < ROUNDS; round += 1)
    for (let next: string | undefined = ''; next !== undefined;) {
      const page = await readPage(plane, next)
      pages += 1
      resources += page.rows
      next = page.next
    }
  const after = await cpuSeconds(pids)
  return {
    resources: resources / ROUNDS,
    pages: pages / ROUNDS,
    cpuMs: ((after.own - before.own) * 1000) / ROUNDS,
  }
}

async function readPage({ api }: ControlPlane, next: string) {
  const from = next === '' ? '' : `&continue=${encodeURIComponent(next)}`
  const path = `/apis/commitlet.dev/v1/gitcommits?${PAGE}${from}`
  const page = (await api.need('GET', path, undefined, TABLE)) as {
    readonly rows?: readonly unknown[]
    readonly metadata: { readonly continue?: string }
  }
  return { rows: page.rows?.length ?? 0, next: page.metadata.continue || undefined }
}
