import { openApiServer } from '../functions/cluster/api-server.ts'
import type { ApiAnswer, ApiServer } from '../functions/cluster/api-server.ts'
import type { ControlPlane } from '../test/harness/control-plane.ts'
import { startControlPlane } from '../test/harness/control-plane.ts'
import { gitCommit, install } from '../test/harness/installation.ts'
import { waitFor } from '../test/harness/wait.ts'
import { openLoop } from './admission-load.ts'
import type { Histogram } from './admission-metrics.ts'
import { readHistogram, since, together, WEBHOOK_DURATION } from './admission-metrics.ts'

/** Rounds of 6 s each, without and with admission in turns; the one before warms up. */
const ROUNDS = 3
const ARRIVALS = 300
const DEADLINE_MS = 30_000
const WEBHOOKS = ['mutate.commitlet.dev', 'validate.commitlet.dev'] as const
const CONFIGURATIONS = ['mutatingwebhookconfiguration', 'validatingwebhookconfiguration'] as const

/** Milliseconds of creations without and with Commitlet's admission, and what the API server says of each webhook. */
export interface Creations {
  readonly without: readonly number[]
  readonly admitted: readonly number[]
  readonly webhooks: readonly { readonly name: string; readonly histogram: Histogram }[]
}

/**
 * Creations of GitCommits by a tenant's user on a real API server. There is no sink, so that no attempt is under way
 * meanwhile. The reason where there is no control plane.
 */
export async function onApiServer(built: boolean): Promise<Creations | { readonly missing: string }> {
  const plane = await startControlPlane({ own: true })
  if ('missing' in plane) return plane
  const undo: (() => unknown)[] = [() => plane.stop()]
  try {
    const t = { teardown: (end: unknown) => void undo.push(end as () => unknown) }
    const commitlet = await install(t, plane, { built, webhookEnv: { K_SINK: '' } })
    const { namespace } = await commitlet.createTeam({ developers: ['developer'] })
    process.env.KUBECONFIG = await plane.kubeconfigFor({ name: 'developer' })
    return await measure({ plane, server: openApiServer(), namespace })
  } finally {
    for (const end of undo.toReversed()) await end()
  }
}

interface Place {
  readonly plane: ControlPlane
  readonly server: ApiServer
  readonly namespace: string
}

async function measure(place: Place): Promise<Creations> {
  const times = { without: [] as number[], admitted: [] as number[] }
  const histograms: (readonly Histogram[])[] = []
  const configurations = await configurationsIn(place.plane)
  for (let round = 0; round <= ROUNDS; round += 1) {
    await place.plane.kubectl(['delete', ...configurations.flatMap(({ kind, name }) => [`${kind}/${name}`])])
    await untilAdmission(place, false)
    const without = await openLoop(ARRIVALS, (index) => create(place, `without-${round}-${index}`))
    await place.plane.apply(configurations.map(({ text }) => text).join('\n'))
    await untilAdmission(place, true)
    const before = await histogramsOf(place.plane)
    const admitted = await openLoop(ARRIVALS, (index) => create(place, `admitted-${round}-${index}`))
    if (round === 0) continue
    times.without.push(...without)
    times.admitted.push(...admitted)
    const after = await histogramsOf(place.plane)
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
  /** As it can be applied again. */
  readonly text: string
}

async function configurationsIn(plane: ControlPlane): Promise<readonly Configuration[]> {
  // The mutating one comes last: once a creation comes back stamped, the validating one is in effect, too.
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

async function untilAdmission(place: Place, wanted: boolean): Promise<void> {
  const look = async (): Promise<true | undefined> => {
    const { status, text } = await post(place, 'probe', '?dryRun=All')
    return status === 201 && text.includes('commitlet.dev/requester') === wanted ? true : undefined
  }
  await waitFor(`creation ${wanted ? 'with' : 'without'} admission`, look, DEADLINE_MS)
}

async function create(place: Place, name: string): Promise<void> {
  const { status, text } = await post(place, name, '')
  if (status !== 201) throw new Error(text)
}

/** Each refers to a ConfigMap of its own, whose review is not remembered; the Secret is the tenant's one. */
function post({ server, namespace }: Place, name: string, query: string): Promise<ApiAnswer> {
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
