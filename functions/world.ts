import type { Logger } from 'pino'
import type { DefaultConfig } from './domain/credentials/default-credentials.ts'
import type { Cluster } from './cluster/cluster.ts'
import type { Change, ChangeDraft, Identity, Landed } from './domain/commit/change.ts'
import type { Login } from './domain/credentials/login.ts'
import type { GateSettings } from './domain/gate/settings.ts'
import type { Release } from './domain/network/budget.ts'
import type { Meter } from './domain/telemetry/meter.ts'
import type { EngineName } from './git/remote.ts'
import type { ClaimCheck } from './domain/resource/claims.ts'
import type { Envelope, Kind, ObjectRef, ReferenceField } from './domain/resource/resource.ts'
import type { Parsed } from './domain/schema/parse.ts'
import type { RequestedByTrailer } from './domain/requester/requester.ts'
import type { WithPullRequests } from './domain/pull-request/pull-requests.ts'

/** The operator's settings that an attempt needs. */
export interface AttemptSettings extends GateSettings {
  /** Time limit of one attempt in seconds, including all network calls. */
  readonly attemptDeadline: number
  /** Attempts before RetryBudgetExhausted. */
  readonly retryLimit: number
  readonly requestedByTrailer: RequestedByTrailer
  /** The operator's default credentials, if any. */
  readonly defaults: DefaultConfig | undefined
  /** Text of the operator's known_hosts file, if any. */
  readonly knownHosts: string | undefined
  readonly author: Identity
}

/** What a running attempt counts towards. */
export interface Holder {
  readonly namespace: string
  readonly host: string
  /** Identifies the resource: each may wait only once. */
  readonly resource: string
  /** It holds something of the pod already, or nobody else can take its place: it may wait, however many do. */
  readonly admitted?: boolean
}

/** The right to do what costs the pod something; see functions/attempt/turns.ts. */
export interface Turn {
  /** Gives the turn back: from now on the attempt only waits, and keeps this many bytes. */
  readonly park: (bytes: number) => void
  /** Waits for a turn again, if it was given back. Throws Conflict if `signal` fires. */
  readonly resume: (signal: AbortSignal) => Promise<void>
  readonly release: Release
}

/** The claim of an attempt that lives. */
export interface KeptClaim extends ClaimCheck {
  /** Fires with a Failure when another attempt has taken over, or the resource was deleted. */
  readonly lost: AbortSignal
  /** Ends the renewals, and returns the resource as it was last written or read. */
  readonly end: () => Promise<Envelope>
}

/** Looks at what resources wait for, and handles them again when it has changed. */
export interface Looks {
  /** Looks as soon as it may if the resource is looked after already, and says whether it is. Takes no call. */
  readonly ask: (ref: ObjectRef) => boolean
  /**
   * Looks after this resource if its status says what it waits for. `asked`: now. Otherwise only where Commitlet looks
   * again and again, and not at once, because an attempt has just looked.
   */
  readonly add: (envelope: Envelope, parsed: Parsed, asked: boolean) => void
}

/** Everything outside the process that the functions use. `openWorld` makes the real one. */
export interface World {
  readonly cluster: Cluster
  /** Commits and pushes a change to the remote; see functions/git. */
  readonly push: (change: Change, login: Login, attempt: PushTerms) => Promise<Landed>
  /** Finds what an earlier attempt may have pushed; undefined if there is nothing. See functions/git. */
  readonly find: (change: ChangeDraft, login: Login, signal: AbortSignal) => Promise<Landed | undefined>
  /** The pull requests of a repository; see provider-apis.ts. */
  readonly withPullRequests: WithPullRequests
  /** Told of each change that will be pushed; the result is called when it has come or will not come. See functions/git. */
  readonly expect: (target: Pick<ChangeDraft, 'repository' | 'branch'>) => Release
  /** Waits until the attempt may run; undefined if the same resource already waits. Throws Conflict if too many wait. */
  readonly takeTurn: (kind: Kind, holder: Holder) => Promise<Turn | undefined>
  /** The API server's time, by which claims and retries go; see functions/cluster/server-clock.ts. */
  readonly now: () => Date
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number
  /** Renews the claim of an attempt while it lives; see functions/attempt/claim-keeper.ts. */
  readonly keepClaim: (claimed: Envelope, sentAt: number) => KeptClaim
  /** Looks for what failed attempts wait for; see functions/looks. */
  readonly looks: Looks
  /** A number from 0 to 1. */
  readonly random: () => number
  readonly log: Logger
  readonly meter: Meter
  readonly settings: AttemptSettings
}

/** What of an attempt a push depends on. */
export type PushTerms = Pick<Attempt, 'signal' | 'claim' | 'engineChosen'>

/** What an attempt knows about earlier attempts, and its deadline. */
export interface Attempt {
  /** An earlier attempt for the same generation and requested-at may already have pushed or opened something. */
  readonly again: boolean
  /** Fires at the attempt's deadline, and when another attempt has taken over. */
  readonly signal: AbortSignal
  /** Asked before each write to a remote. */
  readonly claim: ClaimCheck
  /** Told what the attempt reads: the version of an object that the spec names, or MISSING or UNREADABLE. */
  readonly saw: (field: ReferenceField, version: string) => void
  /** The attempt gives it back where it only waits. */
  readonly turn: Pick<Turn, 'park' | 'resume'>
  /** Told which engine works on its change; see functions/git. */
  readonly engineChosen?: (engine: EngineName) => void
}
