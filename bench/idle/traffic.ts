import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import pino from 'pino'
import type { ApiServer } from '../../functions/cluster/api-server.ts'
import { connectCluster } from '../../functions/cluster/connect.ts'
import { followChanges } from '../../functions/cluster/sweep/changes.ts'
import { watchFollowers } from '../../functions/cluster/sweep/followers.ts'
import { leaseAt } from '../../functions/cluster/sweep/lease.ts'
import type { AppliedEvent } from '../../functions/domain/event/applied-event.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import { KINDS } from '../../functions/domain/resource/api-names.ts'
import { parse } from '../../functions/domain/schema/parse.ts'
import { shareLooks } from '../../functions/looks/look-share.ts'
import { lookAtSources } from '../../functions/looks/source-look.ts'
import { startSweeps } from '../../webhook/delivery/sweep.ts'
import { takeTurns } from '../../webhook/delivery/sweep-turn.ts'
import { recordingMeter } from '../../test/harness/recording-meter.ts'
import { waitFor } from '../../test/harness/wait.ts'

/** Calls, and bytes of the bodies of their answers. */
export interface Traffic {
  readonly calls: number
  readonly bytes: number
}

const PHASES = ['Progressing', 'Retrying', 'Pending'] as const
/** The defaults of the webhook. */
const INTERVALS = { unsettledMs: 30_000, fullMs: 300_000 }
const HOUR_MS = 3_600_000
/** A watch is opened again every five minutes, for each kind and for the followers; a window is shorter. */
const WATCHES_AN_HOUR = 36
/** Until the second round of the sweep for followers is over. */
const SETTLING_MS = 45_000
const DEADLINE = 600_000

/** An API server whose traffic is counted; that of pages of lists once more. */
export function counted(server: ApiServer) {
  const all = { calls: 0, bytes: 0 }
  const pages = { calls: 0, bytes: 0 }
  async function call(...[request]: Parameters<ApiServer>): ReturnType<ApiServer> {
    const counts = request.path.includes('limit=50') ? [all, pages] : [all]
    const count = (key: keyof Traffic, by: number): void => counts.forEach((one) => (one[key] += by))
    count('calls', 1)
    const { lines } = request
    const take = (line: string): void => {
      count('bytes', Buffer.byteLength(line) + 1)
      lines?.take(line)
    }
    const answer = await server(lines === undefined ? request : { ...request, lines: { ...lines, take } })
    count('bytes', Buffer.byteLength(answer.text))
    return answer
  }
  return { server: call, taken: (): Traffic => ({ ...all }), pages: (): Traffic => ({ ...pages }) }
}

/** What it takes to read what is not settled, by phases. */
export async function listPhases(server: ApiServer): Promise<Traffic> {
  const api = counted(server)
  const cluster = connectCluster(api.server)
  for (const kind of KINDS) for (const phase of PHASES) await cluster.listPage(kind, { phase })
  return api.taken()
}

/** What replicas that list everything in each full sweep, and phases in the others, take in an hour. */
export function hourOfLists(everything: Traffic, phases: Traffic, replicas: number): Traffic {
  const [full, unsettled] = [HOUR_MS / INTERVALS.fullMs, HOUR_MS / INTERVALS.unsettledMs]
  const of = (key: keyof Traffic): number => replicas * (everything[key] * full + phases[key] * unsettled)
  return { calls: of('calls'), bytes: of('bytes') }
}

/** What replicas of the webhook have taken. */
export interface Idle {
  /** The first full sweep, which lists everything. */
  readonly list: Traffic & { readonly seconds: number }
  readonly anHour: Traffic
}

/** How long the replicas are measured after their first full sweep, and what is called when that has ended. */
export interface Watched {
  readonly forMs: number
  readonly listed: () => Promise<void>
}

/** The sweeps of so many replicas, as the webhook runs them. */
export async function sweepIdly(
  server: ApiServer,
  replicas: number,
  { forMs, listed }: Watched,
): Promise<Idle> {
  const api = counted(server)
  const { meter, recorded } = recordingMeter()
  const looks: Promise<unknown>[] = []
  const stops = Array.from({ length: replicas }, () => startReplica(api.server, meter, looks))
  const began = performance.now()
  const isListed = (): true | undefined =>
    recorded.some(([name, { sweep }]) => name === 'sweep_finished_timestamp_seconds' && sweep === 'full') ||
    undefined
  await waitFor('end of a full sweep', isListed, DEADLINE)
  const list = { ...api.pages(), seconds: (performance.now() - began) / 1000 }
  await listed()
  // Those whose interval may have been over before are named first.
  await pause(SETTLING_MS)
  await Promise.all(looks)
  const first = api.taken()
  await pause(forMs)
  const last = api.taken()
  await Promise.all(stops.map((stop) => stop()))
  const hourly = (key: keyof Traffic): number => ((last[key] - first[key]) * HOUR_MS) / forMs
  return { list, anHour: { calls: hourly('calls') + WATCHES_AN_HOUR, bytes: hourly('bytes') } }
}

/** Its event makes the function look at a follower: what that reads is pushed to `looks`. */
function startReplica(
  server: ApiServer,
  meter: ReturnType<typeof recordingMeter>['meter'],
  looks: Promise<unknown>[],
): () => Promise<void> {
  const log = pino({ level: 'warn' })
  const cluster = connectCluster(server)
  const elapsed = (): number => performance.now()
  const now = (): Date => cluster.now()
  const lease = leaseAt(server, { namespace: 'default', name: 'commitlet-sweeps' })
  const turn = takeTurns({ lease, identity: randomUUID(), log, elapsed, now })
  const shareLook = shareLooks(elapsed)
  async function look({ data }: AppliedEvent): Promise<void> {
    const whole = await cluster.readResource(data)
    if (whole !== undefined)
      await lookAtSources(parse(whole), envelopeOf(whole).metadata, { cluster, shareLook })
  }
  const sink = {
    send: (event: AppliedEvent) => looks.push(look(event)) > 0,
    hasRoom: () => true,
    isUnderway: () => false,
    onDropped: () => undefined,
  }
  const changes = followChanges({ server, log, elapsed })
  const followers = watchFollowers({ server, log, elapsed })
  return startSweeps({ cluster, sink, log, turn, changes, followers }, INTERVALS, meter)
}
