import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundlePrograms } from '../../build.ts'
import type { ControlPlane } from '../../test/harness/control-plane.ts'
import { startControlPlane } from '../../test/harness/control-plane.ts'
import { install } from '../../test/harness/installation.ts'
import { BUNDLES } from '../../test/harness/programs.ts'
import type { Attack } from './attack.ts'
import type { Order } from './attacker.ts'
import type { Tenant } from './honest.ts'
import type { Kept } from './keep-running.ts'
import { keepRunning } from './keep-running.ts'

const TENANTS = 10
/** Without it, the function may not search for what an event is about. */
const RIGHTS = join(import.meta.dirname, '../../manifests/triggers/referenced-objects/rights.yaml')
/** Of the containers in knative.yaml and manifests/webhook.yaml, in MiB; Node takes half of it for its heap. */
const LIMITS = { function: 2_048, webhook: 512 } as const

/** Of the image: see Dockerfile. */
const THREADS = '256'

/** Lets a program believe that it is in a container of so much memory: the function divides it. */
function within(limitMiB: number): Readonly<Record<string, string>> {
  const container = new URL('container.ts', import.meta.url).href
  return {
    NODE_OPTIONS: `--max-old-space-size=${limitMiB / 2} --import=${container}`,
    COMMITLET_SIEGE_MIB: String(limitMiB),
  }
}

/** Everything that is besieged. */
export interface Site {
  readonly plane: ControlPlane
  readonly tenants: readonly Tenant[]
  readonly programs: Readonly<Record<keyof typeof LIMITS, Kept>>
  readonly orders: readonly Order[]
}

/**
 * Installs Commitlet on a real API server, with a Git server, ten tenants and the namespaces of each attack, and calls
 * `work`. Ends all of it, whatever happens. Without a control plane: the reason why there is none.
 */
export async function onSite(
  attacks: readonly Attack[],
  work: (site: Site) => Promise<void>,
): Promise<{ readonly missing: string } | undefined> {
  const undo: (() => unknown)[] = []
  const t = { teardown: (end: unknown) => void undo.push(end as () => unknown) }
  try {
    const bundles = await mkdtemp(join(tmpdir(), 'commitlet-siege-'))
    t.teardown(() => rm(bundles, { recursive: true, force: true, maxRetries: 5 }))
    await bundlePrograms(bundles)
    process.env[BUNDLES] = bundles
    const plane = await startControlPlane({ own: true })
    if ('missing' in plane) return plane
    t.teardown(() => plane.stop())
    const commitlet = await install(t, plane, {
      functionEnv: { ...within(LIMITS.function), UV_THREADPOOL_SIZE: THREADS },
      webhookEnv: within(LIMITS.webhook),
    })
    await plane.apply(RIGHTS)
    const { git } = commitlet
    const tenants: Tenant[] = []
    for (let index = 0; index < TENANTS; index += 1) {
      const { url } = await git.createRepository(`tenant-${index}/config`)
      tenants.push({ team: await commitlet.createTeam(), repository: url })
    }
    const { function: program, webhook } = commitlet
    const { certPEM, keyPEM } = git.authority
    const addresses = { functionURL: program.url, webhookURL: webhook.url }
    const orders: Order[] = []
    for (const { name, secrets, namespaces: count = 1 } of attacks) {
      const namespaces: string[] = []
      while (namespaces.length < count) {
        const { namespace } = await commitlet.createTeam(secrets.length === 0 ? {} : { secrets })
        namespaces.push(namespace)
      }
      orders.push({ name, namespaces, ...addresses, authority: { certPEM, keyPEM } })
    }
    const programs = {
      function: keepRunning({ program, start: () => commitlet.startFunction(), limitMiB: LIMITS.function }),
      webhook: keepRunning({
        program: webhook,
        start: () => commitlet.startWebhook(),
        limitMiB: LIMITS.webhook,
      }),
    }
    t.teardown(() => Promise.all([programs.function.stop(), programs.webhook.stop()]))
    await work({ plane, tenants, programs, orders })
    return undefined
  } finally {
    for (const end of undo.toReversed()) await Promise.resolve(end()).catch(() => undefined)
  }
}
