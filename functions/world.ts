import type { Logger } from 'pino'
import type { DefaultConfig } from './domain/credentials/default-credentials.ts'
import type { Cluster } from './cluster/cluster.ts'
import type { Change, ChangeDraft, Identity, Landed } from './domain/commit/change.ts'
import type { Login } from './domain/credentials/login.ts'
import type { GateSettings } from './domain/gate/settings.ts'
import type { RequestedByTrailer } from './domain/requester/requester.ts'
import type { WithPullRequests } from './domain/pull-request/pull-requests.ts'

/** What the operator chose, as far as an attempt needs it. */
export interface AttemptSettings extends GateSettings {
  /** Seconds that one attempt may take, all network calls included. */
  readonly attemptDeadline: number
  /** Attempts before RetryBudgetExhausted. */
  readonly retryLimit: number
  readonly requestedByTrailer: RequestedByTrailer
  /** The operator's default credentials, where there are any. */
  readonly defaults: DefaultConfig | undefined
  /** Text of the operator's known_hosts file, where there is one. */
  readonly knownHosts: string | undefined
  readonly author: Identity
}

/** Gives back what `acquire` gave; a second call does nothing. */
export type Release = () => void

/** Whom a running attempt is counted for. */
export interface Holder {
  readonly namespace: string
  readonly host: string
  /** Tells resources apart: each may wait once. */
  readonly resource: string
}

/** The outside as the functions see it. `main.ts` makes the real one. */
export interface World {
  readonly cluster: Cluster
  /** Lands a change on the remote; see functions/git. */
  readonly push: (change: Change, login: Login, signal: AbortSignal) => Promise<Landed>
  /** Looks for what an earlier attempt may have pushed; undefined: it is not there. See functions/git. */
  readonly find: (change: ChangeDraft, login: Login, signal: AbortSignal) => Promise<Landed | undefined>
  /** The pull requests of a repository; see provider-apis.ts. */
  readonly withPullRequests: WithPullRequests
  /** Waits until one more attempt may run; undefined: the same resource waits already. Throws Conflict where too many wait. */
  readonly acquire: (holder: Holder) => Promise<Release | undefined>
  readonly now: () => Date
  /** A number from 0 to 1. */
  readonly random: () => number
  readonly log: Logger
  readonly settings: AttemptSettings
}

/** How this attempt stands to others. */
export interface Attempt {
  /** An earlier attempt at the same generation and requested-at may have pushed, or opened, already. */
  readonly again: boolean
  /** Fires at the attempt's deadline. */
  readonly signal: AbortSignal
}
