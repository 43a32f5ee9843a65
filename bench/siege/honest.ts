import { setTimeout as pause } from 'node:timers/promises'
import { findBinaries } from '../../test/harness/control-plane-binaries.ts'
import type { ControlPlane } from '../../test/harness/control-plane.ts'
import { gitCommit } from '../../test/harness/installation.ts'
import type { Team } from '../../test/harness/team.ts'
import { followLines } from '../../demo/cluster/watch.ts'

/** A tenant with a repository of their own. */
export interface Tenant {
  readonly team: Team
  readonly repository: string
}

/** Milliseconds from the moment when the apply was due; Infinity for what did not happen. */
export interface Apply {
  /** A ConfigMap of the same moment, with which Commitlet has nothing to do. */
  readonly stored: number
  readonly admitted: number
  readonly landed: number
}

/** How long it is waited for the last ones. */
const GRACE_MS = 20_000
const EVERY_MS = 4_000
const LABEL = 'siege.test/honest'
const ROW = '{.metadata.namespace}/{.metadata.name} {.status.phase}{"\\n"}'

/**
 * Each tenant applies a GitCommit every 4 s, at fixed times, whether or not earlier ones have landed: a tenant who waited
 * would hide the delay of the next ones. Each commits a ConfigMap of its own. `run` makes the names unique.
 */
export async function applyHonestly(
  plane: ControlPlane,
  tenants: readonly Tenant[],
  { run, seconds }: { readonly run: string; readonly seconds: number },
): Promise<readonly Apply[]> {
  const count = Math.floor((seconds * 1000 * tenants.length) / EVERY_MS)
  const names = Array.from({ length: count }, (_, index) => `${run}-${index}`)
  const tenantOf = (index: number): Tenant => tenants[index % tenants.length]!
  for (const [index, name] of names.entries()) await createConfigMap(plane, tenantOf(index), name)
  const storing = (index: number, due: number): Promise<number> =>
    createConfigMap(plane, tenantOf(index), `${run}-stored-${index}`).then(
      () => performance.now() - due,
      () => Infinity,
    )
  const landings = await watchLandings(plane)
  const began = performance.now()
  const applies: Promise<Apply>[] = []
  for (const [index, name] of names.entries()) {
    const due = began + (index * EVERY_MS) / tenants.length
    await pause(Math.max(0, due - performance.now()))
    const stored = storing(index, due)
    const end = began + seconds * 1000 + GRACE_MS
    const applied = applyOne({ plane, landings, due, end }, tenantOf(index), name)
    applies.push(Promise.all([stored, applied]).then(([took, times]) => ({ ...times, stored: took })))
  }
  try {
    return await Promise.all(applies)
  } finally {
    await landings.stop()
  }
}

async function createConfigMap({ api }: ControlPlane, { team }: Tenant, name: string): Promise<void> {
  const path = `/api/v1/namespaces/${team.namespace}/configmaps`
  await api.need('POST', path, { metadata: { name }, data: { name } })
}

interface Applying {
  readonly plane: ControlPlane
  readonly landings: Landings
  /** Of the process's clock, in milliseconds. */
  readonly due: number
  readonly end: number
}

async function applyOne(
  { plane, landings, due, end }: Applying,
  tenant: Tenant,
  name: string,
): Promise<Omit<Apply, 'stored'>> {
  const { namespace } = tenant.team
  const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name, path: `${name}.yaml` }
  const resource = gitCommit(name, tenant.repository, { resourceRef })
  const body = { ...resource, metadata: { name, labels: { [LABEL]: 'yes' } } }
  const late = pause(end - performance.now(), undefined, { ref: false })
  const created = plane.api.ask('POST', `/apis/commitlet.dev/v1/namespaces/${namespace}/gitcommits`, body)
  const admitted = await Promise.race([
    created.then(
      ({ status }) => status === 201,
      () => false,
    ),
    late,
  ])
  if (admitted !== true) return { admitted: Infinity, landed: Infinity }
  const admittedAt = performance.now()
  const landedAt = await Promise.race([landings.of(`${namespace}/${name}`), late])
  return { admitted: admittedAt - due, landed: (landedAt ?? Infinity) - due }
}

interface Landings {
  /** Resolves with the time at which the resource has succeeded, by the clock of this process. */
  readonly of: (name: string) => Promise<number>
  readonly stop: () => Promise<void>
}

async function watchLandings(plane: ControlPlane): Promise<Landings> {
  const binaries = await findBinaries({ env: process.env, say: () => undefined })
  if ('missing' in binaries) throw new Error(binaries.missing)
  const waiting = new Map<string, PromiseWithResolvers<number>>()
  const of = (name: string): PromiseWithResolvers<number> => {
    const found = waiting.get(name) ?? Promise.withResolvers<number>()
    waiting.set(name, found)
    return found
  }
  const args = ['get', 'gitcommits', '--all-namespaces', '--watch', `--selector=${LABEL}=yes`]
  const options = [`--output=jsonpath=${ROW}`, `--kubeconfig=${plane.kubeconfig}`]
  const stop = followLines(binaries.kubectl, [...args, ...options], (line) => {
    const [name = '', phase] = line.split(' ')
    if (phase === 'Succeeded') of(name).resolve(performance.now())
  })
  return { of: (name) => of(name).promise, stop }
}
