import pino from 'pino'
import { makeApiLimits } from '../../functions/login/limits/api-limits.ts'
import { openProviders } from '../../functions/pull-request/provider-apis.ts'
import { divide } from '../../functions/attempt/turns/shares.ts'
import { openTurns } from '../../functions/attempt/turns/turns.ts'
import type { World } from '../../functions/world.ts'
import { followTrust } from '../../functions/net/trust.ts'
import { STAMPED } from '../../test/harness/memory-world.ts'
import type { MemoryWorld } from '../../test/harness/memory-world.ts'
import type { LimitedHost } from './limited-host.ts'
import type { Clock } from './request-limit.ts'

const NAMESPACES = 10
/** As in functions/main.ts, in a pod of 2 GiB. */
const SHARES = divide({ memoryMiB: 2048, diskMiB: 1024, diskIsMemory: true }, 256)

/** The number of PullRequests and of repositories. */
export interface Size {
  readonly resources: number
  readonly repositories: number
}

/** Applies the PullRequests. A repository belongs to one of ten namespaces, and each namespace holds a copy of the same token. */
export function fill(
  { cluster }: MemoryWorld,
  { origin, baseURL }: LimitedHost,
  { resources, repositories }: Size,
): void {
  for (let index = 0; index < NAMESPACES; index += 1)
    cluster.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'git', namespace: `team-${index}` },
      stringData: { token: 'good-token' },
    })
  for (let index = 0; index < resources; index += 1) {
    const repository = index % repositories
    cluster.apply({
      apiVersion: 'commitlet.dev/v1',
      kind: 'PullRequest',
      metadata: {
        name: `change-${index}`,
        namespace: `team-${repository % NAMESPACES}`,
        annotations: STAMPED,
      },
      spec: {
        repository: `${origin}/acme/repo-${repository}.git`,
        baseBranch: 'main',
        headBranch: `change-${index}`,
        title: `Change ${index}`,
        provider: 'github',
        providerConfig: { baseURL },
        credentials: { secretName: 'git', tokenKey: 'token' },
      },
    })
  }
}

/** What the world runs on. */
export interface Stage {
  readonly host: LimitedHost
  readonly clock: Clock
  /** Whether the function remembers that a limit was reached, and waits. */
  readonly waitsForLimits: boolean
}

/** A world that calls this host for the APIs, and takes the time from the clock. */
export function worldOver(memory: MemoryWorld, { host, clock, waitsForLimits }: Stage): World {
  const route = {
    resolve: () => Promise.resolve(['127.0.0.1']),
    proxies: { proxy: undefined, exceptions: [] },
    insecureHosts: [],
    trust: followTrust(host.caFile),
  }
  return {
    ...memory,
    withPullRequests: openProviders(route, makeApiLimits(waitsForLimits ? () => clock.now : fastClock())),
    takeTurn: openTurns(SHARES).takeTurn,
    now: () => new Date(clock.now),
    random: randomNumbers(),
    log: pino({ level: 'silent' }),
  }
}

/** Two hours pass between two readings: no limit is remembered for that long. */
function fastClock(): () => number {
  let readings = 0
  return () => (readings += 1) * 7_200_000
}

/** The same numbers in each run: Lehmer's generator with the constants of MINSTD. */
function randomNumbers(): () => number {
  let state = 20_260_301
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}
