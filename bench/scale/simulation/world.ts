import type { Clock } from './clock.ts'
import type { Program } from './processor.ts'

/** Work for one request or step: CPU of the pod, round trips to the Git host, CPU of the host. */
export interface Work {
  readonly podMs: number
  readonly trips: number
  readonly hostMs: number
}

/** What a Git engine does for a batch. */
export interface Engine {
  /** To learn the tip and the trees of a branch for the first time. */
  readonly read: Work
  /** The same, after a push that was too late. */
  readonly readAgain: Work
  readonly push: Work
  /** In addition to `push`, for each commit in it. */
  readonly perCommit: Work
  /** Whether the next batch for a branch pushes on the tip that the last one left. */
  readonly remembersTip: boolean
}

/** Milliseconds of CPU that one GitCommit takes outside of Git: when it is stored, when it is claimed, at its end. */
export interface Costs {
  readonly apiServer: { readonly store: number; readonly claim: number; readonly end: number }
  readonly webhook: { readonly store: number }
  readonly pod: { readonly claim: number; readonly end: number }
}

/** How many attempts of a pod run at once: the turns, of which a namespace gets `perNamespace`. */
export interface Turns {
  readonly total: number
  readonly perNamespace: number
  /** Whether a commit that waits for the next push of its branch keeps its turn. */
  readonly keptWhileWaiting: boolean
}

/** A Git host. */
export interface HostSettings {
  readonly tripMs: number
  /** Pushes that one repository takes in a minute; further ones are refused until the next. */
  readonly pushesPerMinute?: number | undefined
}

/** A GitCommit that is to be carried out. */
export interface Commit {
  readonly namespace: string
  /** Also stands for the repository. */
  readonly branch: string
  /** When the API server had stored it. */
  storedAt: number
  attempts: number
}

/** Everything outside of a pod, and what is counted. */
export interface SimulatedWorld {
  readonly clock: Clock
  readonly random: () => number
  readonly costs: Costs
  readonly turns: Turns
  readonly engine: Engine
  readonly apiServer: Program
  readonly host: Host
  readonly counts: Counts
  /** A commit has landed, and its result is stored. */
  readonly landed: (commit: Commit) => void
  /** A commit has failed, and is tried again after this time. */
  readonly retry: (commit: Commit, delayMs: number) => void
}

/** Totals of a run. Writes are objects that etcd stores. */
export interface Counts {
  gitRequests: number
  pushes: number
  /** Pushes that were too late. */
  lostRaces: number
  /** Of these, those on a tip that the pod had remembered from its last push. */
  oldTips: number
  refusedPushes: number
  apiWrites: number
}

/** What became of a push. */
export type Pushed = 'landed' | 'lost' | 'refused'

/** The Git host: knows the tip of each branch as a number that grows. */
export interface Host {
  readonly read: (branch: string, work: Work, done: (tip: number) => void) => void
  readonly push: (
    branch: string,
    work: Work & { readonly lease: number },
    done: (pushed: Pushed) => void,
  ) => void
  /** The most pushes to one repository in a minute so far. */
  readonly mostPerMinute: () => number
}
