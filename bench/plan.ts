import type { Rounds } from './admission/webhook-alone.ts'
import type { BurstPlan } from './burst/burst.ts'
import type { CommitPlan, Contender } from './commit/measure.ts'
import type { RepositorySize } from './remote/sample-repository.ts'

/** What a run measures. */
export interface Plan {
  readonly commits: readonly CommitPlan[]
  readonly bursts: readonly BurstPlan[]
  readonly replicas: readonly BurstPlan[]
  readonly startRounds: number
  /** Of the webhook alone, and how many rounds of creations on an API server. */
  readonly admission: Rounds & { readonly creations: number }
  readonly pullRequests: {
    readonly resources: number
    readonly repositories: number
    readonly perMinute: number
  }
  /** Nothing begins after this time; a second look takes one minute more. */
  readonly minutes: number
}

/** The repositories, by their number of files. */
export const SIZES: Readonly<Record<number, RepositorySize>> = {
  1: { files: 1, commits: 1, bytes: 4_000 },
  100: { files: 100, commits: 100, bytes: 4_000 },
  10_000: { files: 10_000, commits: 300, bytes: 4_000 },
  100_000: { files: 100_000, commits: 20, bytes: 1_000 },
}
/** The repository of all measurements that do not vary its size. */
const USUAL = 10_000

const HTTPS: readonly Contender[] = ['warm', 'cold', 'binary', 'shallow', 'clone']
const SSH: readonly Contender[] = ['ssh-warm', 'ssh-cold', 'ssh-shallow']

function commits(files: number, roundTripMs: number, rounds: number): CommitPlan {
  const size = SIZES[files]
  if (size === undefined) throw new Error(`There is no repository of ${files} files.`)
  const isUsual = files === USUAL && roundTripMs === 0
  return {
    size,
    roundTripMs,
    rounds,
    cloneRounds: files >= USUAL ? Math.min(rounds, 2) : rounds,
    contenders: isUsual ? [...HTTPS, ...SSH] : HTTPS,
    memory: isUsual,
  }
}

const ONE: BurstPlan = {
  engine: 'direct',
  commits: 1,
  branches: 1,
  namespaces: 1,
  repeats: 15,
  replicas: 1,
  relayed: false,
  brokered: false,
  files: USUAL,
}

/** GitCommits on so many branches, from so many namespaces. */
function burst(commits: number, branches: number, namespaces: number, repeats = 1): BurstPlan {
  return { ...ONE, commits, branches, namespaces, repeats }
}

function replicated(commits: number, branches: number, replicas: number): BurstPlan {
  return { ...ONE, commits, branches, repeats: 1, replicas, relayed: true }
}

/** A hundred for each of eight replicas, which come as fast as a Broker passes them on. */
function brokered(replicas: number): BurstPlan {
  return { ...replicated(800, 1, replicas), brokered: true }
}

/** All of it, in at most 15 minutes on two cores. */
export const FULL: Plan = {
  commits: [
    ...[1, 100, 10_000].map((files) => commits(files, 0, 7)),
    commits(100_000, 0, 3),
    ...[10, 30, 100].map((roundTripMs) => commits(USUAL, roundTripMs, 5)),
  ],
  bursts: [
    ONE,
    { ...ONE, files: 1 },
    { ...ONE, engine: 'binary' },
    { ...ONE, engine: 'binary', files: 1 },
    burst(10, 1, 1, 5),
    burst(10, 10, 1, 5),
    burst(10, 10, 10, 5),
    burst(100, 1, 1, 3),
    burst(100, 10, 1, 2),
    burst(100, 100, 1, 2),
    burst(100, 1, 10, 2),
    burst(100, 10, 10, 2),
    burst(100, 100, 10, 2),
    { ...burst(100, 1, 1), engine: 'binary' },
    burst(1_000, 1, 1),
    burst(1_000, 10, 1),
    burst(1_000, 100, 1),
    burst(1_000, 1, 10),
    burst(1_000, 10, 10),
    burst(1_000, 100, 10),
    // Last of all: it takes as long as a third of the rest.
    burst(10_000, 1, 1),
  ],
  replicas: [
    ...[1, 100].flatMap((branches) => [1, 2, 4, 8].map((replicas) => replicated(200, branches, replicas))),
    ...[1, 8].map(brokered),
  ],
  startRounds: 15,
  admission: { rounds: 2, arrivals: 100, creations: 1 },
  pullRequests: { resources: 200, repositories: 20, perMinute: 50 },
  minutes: 14,
}

/** A selection, in at most 3 minutes on two cores. Its cases are some of the full run's, so that bounds hold for both. */
export const SHORT: Plan = {
  commits: [commits(1, 0, 5), commits(USUAL, 0, 4), commits(USUAL, 30, 3)].map((plan) => ({
    ...plan,
    cloneRounds: 1,
    memory: false,
  })),
  bursts: [{ ...ONE, repeats: 9 }, burst(10, 1, 1, 3), burst(100, 1, 1, 2), burst(100, 10, 10)],
  replicas: [1, 2].map((replicas) => replicated(200, 1, replicas)),
  startRounds: 7,
  admission: { rounds: 1, arrivals: 75, creations: 0 },
  pullRequests: FULL.pullRequests,
  minutes: 2.5,
}
