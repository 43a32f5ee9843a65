import type { Burst } from '../../bench/burst/burst.ts'
import type { CommitCase, Contender } from '../../bench/commit/measure.ts'
import type { Results } from '../../bench/results.ts'
import { spread } from '../../bench/statistics.ts'

const NOTHING: Results = {
  conditions: {
    date: '2026-03-01',
    node: 'v24.0.0',
    processor: 'a processor',
    cores: 2,
    load: [0, 0],
    minutes: 1,
    form: 'short',
  },
  starts: [],
  commits: [],
  bursts: [],
  replicas: [],
  admission: [],
  pullRequests: [],
  skipped: [],
}

/** The results of a run that has measured this alone. */
export function resultsOf(some: Partial<Results>): Results {
  return { ...NOTHING, ...some }
}

/** A case in which each contender took these milliseconds, with three requests over one connection. */
export function commitCase(
  where: Pick<CommitCase, 'files' | 'roundTripMs'>,
  times: Partial<Record<Contender, readonly number[]>>,
): CommitCase {
  const contended = Object.entries(times).map(([contender, taken]) => ({
    contender: contender as Contender,
    took: spread(taken),
    requests: 3,
    connections: 1,
    serverMs: 20,
    peakMB: undefined,
  }))
  return { ...where, measuredMs: where.roundTripMs + 1, contended }
}

/** A burst of GitCommits on one branch, by one function; `some` overrides its members. */
export function burst(some: Partial<Burst>): Burst {
  const zero = spread([0])
  return {
    engine: 'direct',
    commits: 1,
    branches: 1,
    namespaces: 1,
    replicas: 1,
    relayed: false,
    brokered: false,
    files: 10_000,
    seconds: zero,
    p50: 0,
    p99: 0,
    toRef: undefined,
    first: zero,
    second: zero,
    restMB: 100,
    peakMB: 100,
    cpuMs: 0,
    calls: {},
    functionCalls: 6,
    webhookCalls: 0,
    gitRequests: 1,
    pushes: 1,
    lost: 0,
    doubled: 0,
    ...some,
  }
}
