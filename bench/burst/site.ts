import { mkdir } from 'node:fs/promises'
import type { ControlPlane } from '../../test/harness/control-plane.ts'
import { startControlPlane } from '../../test/harness/control-plane.ts'
import { configMap, install, type Installation, type Team } from '../../test/harness/installation.ts'
import { startRelay, type Relay } from '../../test/harness/relay.ts'
import type { Program } from '../../test/harness/programs.ts'
import { freePort } from '../../test/harness/wait.ts'
import { TOKEN, type GitServers } from '../remote/servers.ts'
import { openAudit, type Audit } from './audit.ts'
import { watchLandings, type Landings } from './landings.ts'

/** Which programs run. */
export interface Line {
  readonly engine: 'direct' | 'binary'
  readonly replicas: number
  /** Whether events come by way of a relay, to each replica in turn; otherwise they go straight to the only one. */
  readonly relayed: boolean
  /** Whether the relay accepts events at once, as a Broker does: then the webhook's connections do not bound what is on its way. */
  readonly brokered: boolean
}

/** A complete Commitlet on a real API server, whose programs run as in their image. */
export interface BurstSite {
  readonly servers: GitServers
  readonly plane: ControlPlane
  readonly teams: readonly Team[]
  readonly audit: Audit
  readonly landings: Landings
  /** Ends the functions that run, and starts these: without an attempt so far, and ready. */
  readonly restart: (line: Line) => Promise<readonly Program[]>
  readonly stop: () => Promise<void>
}

const NAMESPACES = 10

/**
 * Installs it, with ten namespaces that each have a ConfigMap `shop` and a Secret `git`. Without a control plane: the
 * reason why there is none.
 */
export async function openBurstSite(
  servers: GitServers,
  folder: string,
): Promise<BurstSite | { readonly missing: string }> {
  const undo: (() => unknown)[] = []
  const t = { teardown: (end: unknown) => void undo.push(end as () => unknown) }
  async function stop(): Promise<void> {
    for (const end of undo.splice(0).toReversed()) await Promise.resolve(end()).catch(() => undefined)
  }
  try {
    await mkdir(folder, { recursive: true })
    const audit = await openAudit(folder)
    const plane = await startControlPlane({ own: true, flags: audit.flags })
    if ('missing' in plane) return plane
    t.teardown(() => plane.stop())
    const relay = await startRelay()
    t.teardown(() => relay.close())
    const commitlet = await install(t, plane, {
      built: 'cached',
      functionEnv: { CA_FILE: servers.caFile },
    })
    const landings = await watchLandings(plane)
    t.teardown(() => landings.stop())
    const teams = await makeTeams(commitlet)
    const { restart, end } = restarter(commitlet, relay)
    t.teardown(end)
    return { servers, plane, teams, audit, landings, restart, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function makeTeams(commitlet: Installation): Promise<readonly Team[]> {
  const teams = await Promise.all(Array.from({ length: NAMESPACES }, () => commitlet.createTeam()))
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'git' }, stringData: { token: TOKEN } }
  await Promise.all(teams.map((team) => team.apply(configMap(), secret)))
  return teams
}

interface Restarter {
  readonly restart: BurstSite['restart']
  /** Ends all programs at once: nothing is left to drain. */
  readonly end: () => Promise<unknown>
}

function restarter(commitlet: Installation, relay: Relay): Restarter {
  const { port } = commitlet.function
  let running = [commitlet.function]
  let { webhook } = commitlet
  let isRelayed = false

  async function sendTo(relayed: boolean): Promise<void> {
    relay.targets.splice(0, relay.targets.length, ...running.map(({ url }) => url))
    if (relayed === isRelayed) return
    isRelayed = relayed
    await webhook.kill()
    webhook = await commitlet.startWebhook(relayed ? { K_SINK: relay.url } : {})
  }

  const restart: BurstSite['restart'] = async ({ engine, replicas, relayed, brokered }) => {
    await Promise.all(running.map((program) => program.stop()))
    running = []
    for (let index = 0; index < replicas; index += 1) {
      const PORT = String(index === 0 ? port : await freePort())
      running.push(await commitlet.startFunction({ GIT_ENGINE: engine, PORT }))
    }
    relay.accepting = brokered
    await sendTo(relayed)
    return running
  }
  return { restart, end: () => Promise.all([webhook, ...running].map((program) => program.kill())) }
}
