import { handle } from '../../functions/attempt/attempt.ts'
import { finder } from '../../functions/attempt/find.ts'
import type { World } from '../../functions/world.ts'
import { allRows, UNSETTLED } from '../../test/harness/rows.ts'
import { isDue } from '../../functions/cluster/sweep/due.ts'
import { memoryWorld } from '../../test/harness/memory-world.ts'
import type { MemoryWorld } from '../../test/harness/memory-world.ts'
import { startLimitedHost } from './limited-host.ts'
import type { LimitedHost } from './limited-host.ts'
import type { Clock, Limit } from './request-limit.ts'
import { fill, worldOver } from './world.ts'
import type { Size } from './world.ts'

/** How many pull requests are opened, and under which limit. */
export interface Load extends Size {
  readonly limit: Limit
  /** Whether the function remembers that a limit was reached, and waits. */
  readonly waitsForLimits: boolean
}

/** The outcome. */
export interface Tally {
  /** Pull requests at the host, each counted once. */
  readonly opened: number
  /** Further pull requests for the same branches. */
  readonly doubles: number
  /** Resources that have not succeeded. */
  readonly lost: number
  readonly requests: number
  /** Requests that the host refused because of its limit. */
  readonly refused: number
  /** Attempts of all resources, and of the resource with the most. */
  readonly attempts: number
  readonly mostAttempts: number
  readonly virtualSeconds: number
  readonly realSeconds: number
  readonly violations: readonly string[]
}

const START = Date.parse('2026-03-01T10:00:00Z')
const FIND_BOUNDS = { reads: 32, waits: 64 }
/** As in webhook/delivery/sink.ts, and the default of SWEEP_INTERVAL. */
const IN_FLIGHT = 256
const SWEEP_MS = 30_000

/** Applies all of them at once, and sweeps until none is pending. All times but `realSeconds` are virtual. */
export async function openAll(load: Load): Promise<Tally> {
  const began = performance.now()
  const clock = { now: START }
  const branches = Array.from({ length: load.resources }, (_, index) => `change-${index}`)
  const repositories = Array.from({ length: load.repositories }, (_, repository) => ({
    branches: branches.filter((_, index) => index % load.repositories === repository),
  }))
  const host = await startLimitedHost(repositories, load.limit, clock)
  try {
    const memory = memoryWorld()
    fill(memory, host, load)
    await sweepAll(worldOver(memory, { host, clock, waitsForLimits: load.waitsForLimits }), clock)
    const realSeconds = (performance.now() - began) / 1000
    return { ...(await count(memory, host)), virtualSeconds: (clock.now - START) / 1000, realSeconds }
  } finally {
    await host.close()
  }
}

/** If nothing is due, the clock advances to the first sweep after the next attempt is due. */
async function sweepAll(world: World, clock: Clock): Promise<void> {
  const find = finder(world.cluster, FIND_BOUNDS)
  for (;;) {
    const unsettled = await allRows(world.cluster, 'PullRequest', UNSETTLED)
    if (unsettled.length === 0) return
    const due = unsettled.filter((row) => isDue(row, 'unsettled', clock.now)).map(({ ref }) => ref)
    const takeUp = async (): Promise<void> => {
      for (let ref = due.shift(); ref !== undefined; ref = due.shift()) await handle(ref, find, world)
    }
    if (due.length > 0) await Promise.all(Array.from({ length: IN_FLIGHT }, takeUp))
    else {
      const next = Math.min(...unsettled.map(({ nextAttemptTime }) => Date.parse(nextAttemptTime ?? '')))
      clock.now = Math.ceil(next / SWEEP_MS) * SWEEP_MS
    }
  }
}

async function count(
  { cluster }: MemoryWorld,
  host: LimitedHost,
): Promise<Omit<Tally, 'virtualSeconds' | 'realSeconds'>> {
  const pulls = host.models.flatMap(({ pulls }, repository) =>
    pulls.map(({ head }) => `${repository} ${head}`),
  )
  const opened = new Set(pulls).size
  const all = await allRows(cluster, 'PullRequest')
  const statuses = all.map(({ ref }) => Object(cluster.get('PullRequest', ref.namespace, ref.name)?.status))
  const attempts = statuses.map((status) => Number(status.attempts))
  return {
    opened,
    doubles: pulls.length - opened,
    lost: statuses.filter(({ phase }) => phase !== 'Succeeded').length,
    requests: host.limits.answered() + host.limits.refused(),
    refused: host.limits.refused(),
    attempts: attempts.reduce((sum, one) => sum + one, 0),
    mostAttempts: Math.max(...attempts),
    violations: host.violations(),
  }
}
