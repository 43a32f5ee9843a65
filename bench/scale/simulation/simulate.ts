import { percentile } from '../../statistics.ts'
import { makeBroker, type BrokerSettings } from './broker.ts'
import { makeClock } from './clock.ts'
import { makeFleet, type FleetSettings } from './fleet.ts'
import { makeHost } from './host.ts'
import type { Arrival } from './loads.ts'
import { makePod } from './pod.ts'
import { makeMachine, type Machine } from './processor.ts'
import { randomBy } from './random.ts'
import { makeSender } from './sender.ts'
import type { Commit, Costs, Counts, Engine, HostSettings, SimulatedWorld, Turns } from './world.ts'

/** An installation. */
export interface Installation extends FleetSettings {
  readonly webhooks: number
  /** Between the webhook and the function; undefined: nothing. */
  readonly broker?: BrokerSettings | undefined
  readonly turns: Turns
  readonly engine: Engine
  readonly costs: Costs
  readonly host: HostSettings
  /** What the first attempt of a pod costs in addition, in milliseconds of CPU. */
  readonly firstMs: number
  /** Cores of the API server, of each pod, and of the host; or those of one machine on which everything runs. */
  readonly cores:
    { readonly apiServer: number; readonly pod: number; readonly host: number } | { readonly shared: number }
}

/** What a load took. Times in seconds, CPU in seconds. */
export interface Outcome extends Readonly<Counts> {
  readonly commits: number
  /** From the first arrival to the last result. */
  readonly seconds: number
  readonly p50: number
  readonly p99: number
  readonly mostPods: number
  readonly podSeconds: number
  readonly mostPushesPerMinute: number
  readonly cpu: Readonly<Record<'apiServer' | 'webhook' | 'pods' | 'host', number>>
}

/** Busy threads on a machine that all share: etcd and the API server's two; the processes of a Git server. */
const SHARES = { apiServer: 3, host: 4 }
/** A sweep finds what is due after a while: half of the least pause between two sweeps, on average. */
const SWEEP_MS = 2_500
/** Of the first retry, on average. */
const RETRY_MS = 2_500
const LONGEST_MS = 4 * 3_600_000

/** Carries out a load; the same for the same seed. */
export function simulate(of: Installation, load: readonly Arrival[], seed: number): Outcome {
  const clock = makeClock()
  const random = randomBy(seed)
  const machines = machinesOf(of, (cores) => makeMachine(clock, cores))
  const [apiServer, webhook] = [
    machines.apiServer().addProgram(SHARES.apiServer),
    machines.apiServer().addProgram(),
  ]
  const hostProgram = machines.host().addProgram(SHARES.host)
  const pods: { readonly used: () => number }[] = []
  const counts: Counts = {
    gitRequests: 0,
    pushes: 0,
    lostRaces: 0,
    oldTips: 0,
    refusedPushes: 0,
    apiWrites: 0,
  }
  const host = makeHost({ clock, counts, program: hostProgram }, of.host)
  const latencies: number[] = []
  let lastAt = 0

  function landed({ storedAt }: Commit): void {
    lastAt = clock.now()
    latencies.push((lastAt - storedAt) / 1000)
  }

  function retry(commit: Commit, delayMs: number): void {
    commit.attempts += 1
    clock.after(Math.max(delayMs, RETRY_MS * 2 * random()) + SWEEP_MS * 2 * random(), () => announce(commit))
  }

  const world: SimulatedWorld = { ...of, clock, random, apiServer, host, counts, landed, retry }
  const fleet = makeFleet(
    {
      clock,
      random,
      makePod() {
        const program = machines.pod().addProgram()
        pods.push(program)
        return makePod(world, program, of.firstMs)
      },
    },
    of,
  )
  const target = of.broker === undefined ? fleet.send : makeBroker(clock, of.broker, fleet.send)
  const senders = Array.from({ length: of.webhooks }, () => makeSender(clock, target))
  let next = 0

  function announce(commit: Commit): void {
    next += 1
    senders[next % senders.length]?.(commit)
  }

  function arrive({ namespace, branch }: Arrival): void {
    const commit = { namespace, branch, storedAt: 0, attempts: 1 }
    webhook.run(of.costs.webhook.store, () =>
      apiServer.run(of.costs.apiServer.store, () => {
        counts.apiWrites += 1
        commit.storedAt = clock.now()
        announce(commit)
      }),
    )
  }

  for (const arrival of load) clock.after(arrival.at, () => arrive(arrival))
  clock.run(() => latencies.length === load.length || clock.now() > LONGEST_MS)
  const seconds = (program: { readonly used: () => number }): number => program.used() / 1000
  return {
    ...counts,
    commits: latencies.length,
    seconds: lastAt / 1000,
    p50: percentile(latencies, 50),
    p99: percentile(latencies, 99),
    mostPods: fleet.mostPods(),
    podSeconds: fleet.podSeconds(),
    mostPushesPerMinute: host.mostPerMinute(),
    cpu: {
      apiServer: seconds(apiServer),
      webhook: seconds(webhook),
      pods: pods.reduce((sum, pod) => sum + seconds(pod), 0),
      host: seconds(hostProgram),
    },
  }
}

interface Machines {
  readonly apiServer: () => Machine
  readonly pod: () => Machine
  readonly host: () => Machine
}

function machinesOf({ cores }: Installation, make: (cores: number) => Machine): Machines {
  if ('shared' in cores) {
    const machine = make(cores.shared)
    return { apiServer: () => machine, pod: () => machine, host: () => machine }
  }
  const [apiServer, host] = [make(cores.apiServer), make(cores.host)]
  return { apiServer: () => apiServer, host: () => host, pod: () => make(cores.pod) }
}
