import { openApiServer } from '../../functions/cluster/api-server.ts'
import type { ApiAnswer, ApiServer } from '../../functions/cluster/api-server.ts'
import type { ControlPlane } from '../../test/harness/control-plane.ts'
import { startControlPlane } from '../../test/harness/control-plane.ts'
import { gitCommit, install } from '../../test/harness/installation.ts'
import { waitFor } from '../../test/harness/wait.ts'
import { openLoop } from './open-loop.ts'
import type { Histogram } from './histogram.ts'
import { readHistogram, since, together, WEBHOOK_DURATION } from './histogram.ts'

/** Of 6 s each, alternately without and with admission; one more warms up first. */
const ROUNDS = 3
const ARRIVALS = 300
const DEADLINE_MS = 30_000
const WEBHOOKS = ['mutate.commitlet.dev', 'validate.commitlet.dev'] as const
const CONFIGURATIONS = ['mutatingwebhookconfiguration', 'validatingwebhookconfiguration'] as const

/** Milliseconds per creation without and with Commitlet's admission, and the API server's own metric of each webhook. */
export interface Creations {
  readonly without: readonly number[]
  readonly admitted: readonly number[]
  readonly webhooks: readonly { readonly name: string; readonly histogram: Histogram }[]
}

/**
 * Measures how long a tenant's user takes to create GitCommits on a real API server. There is no sink, so no attempt
 * runs meanwhile. Without a control plane: the reason why there is none.
 */
export async function onApiServer(
  built: boolean,
  rounds = ROUNDS,
): Promise<Creations | { readonly missing: string }> {
  const plane = await startControlPlane({ own: true })
  if ('missing' in plane) return plane
  const undo: (() => unknown)[] = [() => plane.stop()]
  try {
    const t = { teardown: (end: unknown) => void undo.push(end as () => unknown) }
    const commitlet = await install(t, plane, { built, webhookEnv: { K_SINK: '' } })
    const { namespace } = await commitlet.createTeam({ developers: ['developer'] })
    process.env.KUBECONFIG = await plane.kubeconfigFor({ name: 'developer' })
    return await measure({ plane, server: openApiServer(), namespace }, rounds)
  } finally {
    for (const end of undo.toReversed()) await end()
  }
}

interface Site {
  readonly plane: ControlPlane
  readonly server: ApiServer
  readonly namespace: string
}

async function measure(site: Site, rounds: number): Promise<Creations> {
  const times = { without: [] as number[], admitted: [] as number[] }
  const histograms: (readonly Histogram[])[] = []
  const configurations = await configurationsIn(site.plane)
  for (let round = 0; round <= rounds; round += 1) {
    await site.plane.kubectl(['delete', ...configurations.flatMap(({ kind, name }) => [`${kind}/${name}`])])
    await untilAdmission(site, false)
    const without = await openLoop(ARRIVALS, (index) => create(site, `without-${round}-${index}`))
    await site.plane.apply(configurations.map(({ text }) => text).join('\n'))
    await untilAdmission(site, true)
    const before = await histogramsOf(site.plane)
    const admitted = await openLoop(ARRIVALS, (index) => create(site, `admitted-${round}-${index}`))
    if (round === 0) continue
    times.without.push(...without)
    times.admitted.push(...admitted)
    const after = await histogramsOf(site.plane)
    histograms.push(after.map((histogram, index) => since(before[index]!, histogram)))
  }
  const webhooks = WEBHOOKS.map((name, index) => {
    return { name, histogram: histograms.map((round) => round[index]!).reduce(together) }
  })
  return { ...times, webhooks }
}

interface Configuration {
  readonly kind: string
  readonly name: string
  /** A manifest with which it can be applied again. */
  readonly text: string
}

async function configurationsIn(plane: ControlPlane): Promise<readonly Configuration[]> {
  // The mutating one is applied last: when a creation comes back stamped, the validating one is already in effect.
  return Promise.all(
    CONFIGURATIONS.toReversed().map(async (kind) => {
      const { stdout } = await plane.kubectl(['get', kind, 'commitlet', '-o', 'json'])
      const { apiVersion, kind: written, metadata, webhooks } = JSON.parse(stdout)
      const text = JSON.stringify({
        apiVersion,
        kind: written,
        metadata: { name: metadata.name },
        webhooks,
      })
      return { kind, name: metadata.name, text }
    }),
  )
}

async function untilAdmission(site: Site, wanted: boolean): Promise<void> {
  const isInEffect = async (): Promise<true | undefined> => {
    const { status, text } = await post(site, 'probe', '?dryRun=All')
    return status === 201 && text.includes('commitlet.dev/requester') === wanted ? true : undefined
  }
  await waitFor(`creation ${wanted ? 'with' : 'without'} admission`, isInEffect, DEADLINE_MS)
}

async function create(site: Site, name: string): Promise<void> {
  const { status, text } = await post(site, name, '')
  if (status !== 201) throw new Error(text)
}

/** Each GitCommit refers to another ConfigMap, so its review is not cached. All name the tenant's one Secret. */
function post({ server, namespace }: Site, name: string, query: string): Promise<ApiAnswer> {
  const body = gitCommit(name, 'https://git.example.com/acme/shop.git', {
    resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name, path: 'shop/settings.yaml' },
  })
  const path = `/apis/commitlet.dev/v1/namespaces/${namespace}/gitcommits${query}`
  return server({ method: 'POST', path, body })
}

async function histogramsOf(plane: ControlPlane): Promise<readonly Histogram[]> {
  const { stdout } = await plane.kubectl(['get', '--raw', '/metrics'])
  return WEBHOOKS.map((name) => readHistogram(stdout, WEBHOOK_DURATION, name))
}
