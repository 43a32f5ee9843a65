import type { Logger } from 'pino'
import type { AppToken, AppTokenUse } from './domain/credentials/app-login.ts'
import type { DefaultConfig } from './domain/credentials/default-credentials.ts'
import type { Cluster } from './cluster/cluster.ts'
import type { LargeObjects } from './commit/sources/large-objects.ts'
import type { Change, ChangeDraft, Identity, Landed } from './domain/commit/change.ts'
import type { CommitByAPI } from './domain/commit/commit-by-api.ts'
import type { Login } from './domain/credentials/login.ts'
import type { Failure } from './domain/failure.ts'
import type { GateSettings } from './domain/gate/settings.ts'
import type { Release } from './domain/network/budget.ts'
import type { WorkFor } from './domain/network/share.ts'
import type { Meter } from './domain/telemetry/meter.ts'
import type { Span, Tracer } from './domain/telemetry/tracer.ts'
import type { EditFile } from './edits/edits.ts'
import type { EngineName } from './git/remote.ts'
import type { FollowedObjects } from './followed-objects.ts'
import type { PushWatch } from './domain/resource/late-push.ts'
import type { Signer } from './domain/signing/signer.ts'
import type { ClaimCheck } from './domain/resource/claims.ts'
import type { Envelope, ObjectMeta, ObjectRef } from './domain/resource/resource.ts'
import type { Kind } from './domain/resource/api-names.ts'
import type { ReferenceField } from './domain/spec/spec.ts'
import type { Target } from './domain/repository/target.ts'
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
  /** DEFAULT_SIGNING_KEY_FILE. */
  readonly signingKeyFile?: string | undefined
}

/** What a running attempt counts towards. */
export interface Holder {
  readonly namespace: string
  readonly host: string
  /** Identifies the resource: each may wait only once. */
  readonly resource: string
  /** Objects that it reads; default 1. */
  readonly objects?: number
  /** What it takes of memory from its turn on, besides what all take; default 0. */
  readonly bytes?: number
  /** It holds something of the pod already, or nobody else can take its place: it may wait, however many do. */
  readonly admitted?: boolean
  /** It has had a turn before, and keeps what it holds while it waits for the next: it goes before those of its namespace that have not. */
  readonly resumes?: boolean
  /** Ends the work soon with this Failure, because others need what it holds. Left out: it cannot be ended. */
  readonly giveWay?: ((because: Failure) => void) | undefined
}

/** The right to do what costs the pod something; see functions/attempt/turns/turns.ts. */
export interface Turn {
  /** Holds it with this many bytes, without what it takes to read objects. */
  readonly made: (bytes: number) => void
  /** Gives it back: the attempt only waits, and keeps these bytes. Throws Conflict where others that wait leave too little. */
  readonly park: (bytes: number) => void
  /** Waits for a turn again, if it was given back. Throws Conflict if `signal` fires. */
  readonly resume: (signal: AbortSignal) => Promise<void>
  readonly release: Release
}

/** The claim of an attempt that lives. */
export interface KeptClaim extends ClaimCheck {
  /** Fires with a Failure when another attempt has taken over, or the resource was deleted. */
  readonly lost: AbortSignal
  /**
   * A resource of the same name was deleted while an attempt at it ran in this process: the remote may still carry out its
   * push. It begins no other.
   */
  readonly replaces: boolean
  /** Writes into the claim which sources of a follower are about to be committed. Throws what `confirm` throws. */
  readonly committing: (sources: string) => Promise<void>
  /**
   * Makes sure that the resource was there 2 s ago or later: what its namespace holds now is not of others who have made one of that
   * name again. Throws Conflict if it was deleted, and the Failure of a read.
   */
  readonly stillThere: () => Promise<void>
  /** Ends the renewals and the time in which something may be sent, and returns the resource as it was last written or read. */
  readonly end: () => Promise<Envelope>
}

/** Resources that are left alone for a while, because their status cannot be stored: a sweep names them again and again. */
export interface LeftAlone {
  /** Whether this is so. Another spec, request or object of the name is not left alone. */
  readonly has: (ref: ObjectRef) => boolean
  /** Leaves the resource alone: for a minute, and each time in a row for twice as long, up to an hour. */
  readonly add: (ref: ObjectRef) => void
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

/** An App's token that an attempt needs. */
export interface AppTokenRequest extends AppTokenUse {
  /** What the token has to be good for. */
  readonly kind: Kind
  readonly namespace: string
  readonly signal: AbortSignal
}

/** Everything outside the process that the functions use. `openWorld` makes the real one. */
export interface World {
  readonly cluster: Cluster
  /** Commits and pushes a change to the remote; see functions/git. */
  readonly push: (change: Change, login: Login, attempt: PushTerms) => Promise<Landed>
  /** Sets fields of a file of the branch; see functions/edits. */
  readonly editFile: EditFile
  /** Finds what an earlier attempt may have pushed; undefined if there is nothing. See functions/git. */
  readonly find: (change: ChangeDraft, login: Login, attempt: SearchTerms) => Promise<Landed | undefined>
  /** Makes commits by the API of this target's host, in the turns of the namespace; see functions/login/host-commits.ts. Throws InvalidSpec if that is not known. */
  readonly commitsByAPI: (target: Target, namespace: string) => CommitByAPI
  /** The pull requests of a repository; see provider-apis.ts. */
  readonly withPullRequests: WithPullRequests
  /** The token of an App, asked for or kept; see functions/login/app-tokens.ts. */
  readonly appTokens: (request: AppTokenRequest) => Promise<AppToken>
  /** Told of each change that will be pushed; the result is called when it has come or will not come. See functions/git. */
  readonly expect: (change: Pick<ChangeDraft, 'repository' | 'branch' | 'namespace'>) => Release
  /** Waits until the attempt may run; undefined if the same resource already waits. Throws Conflict if too many wait. */
  readonly takeTurn: (kind: Kind, holder: Holder) => Promise<Turn | undefined>
  /**
   * Renders an object, or parses a Secret or an answer, in the share of its namespace; see
   * functions/attempt/turns/thread/thread-share.ts.
   */
  readonly workFor: WorkFor
  /** Objects that take much memory; see functions/commit/sources/large-objects.ts. */
  readonly largeObjects: LargeObjects
  /** Has a signer make its signatures in turns of all namespaces; see functions/attempt/turns/shared-signing.ts. */
  readonly shareSigner: (namespace: string, signer: Signer) => Signer
  /** The API server's time, by which claims and retries go; see functions/cluster/server-clock.ts. */
  readonly now: () => Date
  /** Milliseconds of a clock that is never set, and goes on while the machine is suspended; see functions/machine-clock.ts. */
  readonly elapsed: () => number
  /** Renews the claim of an attempt while it lives; see functions/attempt/claim-keeper.ts. */
  readonly keepClaim: (claimed: Envelope, sentAt: number) => KeptClaim
  /** Looks for what failed attempts wait for; see functions/looks. */
  readonly looks: Looks
  /** Resources for whose status there is no room; see functions/attempt/left-alone.ts. */
  readonly leftAlone: LeftAlone
  /**
   * Follows an event, or a change of what is waited for, once the pace of what fails in its namespace allows it; see
   * functions/attempt/failing-pace.ts. `failed`: told of each attempt that has failed, apart from retries whose time has come. Throws
   * what `work` throws.
   */
  readonly inPace: <T>(namespace: string, work: (failed: () => void) => Promise<T>) => Promise<T>
  /** The same `failed`, while an event is followed in its pace. */
  readonly failedInPace?: () => void
  /**
   * Looks once the namespace of the follower, and the pod, have less than their share under way; see
   * functions/looks/look-share.ts. Throws what `look` throws.
   */
  readonly shareLook: <T>(
    by: { readonly namespace: string; readonly apiVersion: string },
    look: () => Promise<T>,
  ) => Promise<T>
  /**
   * Calls `look` once this follower has its turn, in the pace of those of its namespace that are due: at once where none waits. Who
   * waits keeps nothing of what was read before. Undefined where it is not due, or waits already; see functions/looks/follow-turns.ts.
   */
  readonly turnToFollow: <T>(
    follower: Pick<ObjectMeta, 'namespace' | 'uid'>,
    look: () => Promise<T | undefined>,
  ) => Promise<T | undefined>
  /** What followers refer to; see functions/followed-objects.ts. */
  readonly followed: FollowedObjects
  /** A number from 0 to 1. */
  readonly random: () => number
  readonly log: Logger
  readonly meter: Meter
  readonly tracer: Tracer
  /** The span of the attempt that this World is for, if it is for one; see functions/attempt/traced-world.ts. */
  readonly span?: Span | undefined
  readonly settings: AttemptSettings
}

/** What of an attempt a push depends on. */
export type PushTerms = Pick<Attempt, 'signal' | 'claim' | 'engineChosen' | 'pushWatch' | 'span'>

/** What of an attempt a search depends on. */
export type SearchTerms = Pick<Attempt, 'signal' | 'engineChosen' | 'span'>

/** What an attempt knows about earlier attempts, and its deadline. */
export interface Attempt {
  /** Its user has just requested it: see isJustRequested. */
  readonly isRequested: boolean
  /** What an earlier attempt at the same generation and requested-at has pushed or opened may be there. */
  readonly again: boolean
  /** Fires at the attempt's deadline, and when another attempt has taken over. */
  readonly signal: AbortSignal
  /** Asked before each write to a remote. */
  readonly claim: ClaimCheck
  /** Asked before what was read in the namespace is used; see KeptClaim. */
  readonly stillThere: KeptClaim['stillThere']
  /** Of a follower: writes which sources it is about to commit; see KeptClaim. */
  readonly committing?: KeptClaim['committing'] | undefined
  /** Told what the attempt reads: the version of an object that the spec names, or MISSING or UNREADABLE. */
  readonly saw: (field: ReferenceField, version: string) => void
  /** The attempt gives it back where it only waits. */
  readonly turn: Pick<Turn, 'made' | 'park' | 'resume'>
  /** Told which engine works on its change; see functions/git. */
  readonly engineChosen?: ((engine: EngineName) => void) | undefined
  /** Told of the pushes of its change; see functions/domain/resource/late-push.ts. */
  readonly pushWatch?: PushWatch | undefined
  /** What the work belongs to in a trace. */
  readonly span?: Span | undefined
}
