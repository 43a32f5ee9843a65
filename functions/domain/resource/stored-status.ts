import type { ReferenceField } from '../spec/spec.ts'

export type Phase = 'Pending' | 'Progressing' | 'Retrying' | 'Succeeded' | 'Failed' | 'Suspended'

/** metav1.Condition; `lastTransitionTime` is RFC 3339 in UTC with whole seconds. */
export interface Condition {
  readonly type: 'Ready' | 'Reconciling' | 'Stalled' | 'DetailsApplied'
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly observedGeneration: number
  readonly lastTransitionTime: string
}

/** Where the content is on the remote. */
export interface CommitStatus {
  readonly sha: string
  readonly shortSHA: string
  readonly branch: string
  readonly path: string
  readonly url?: string
}

/** The pull request at its host. */
export interface PullRequestStatus {
  readonly number: number
  readonly url: string
  readonly state: 'open' | 'merged' | 'closed'
}

/** An object that has to change before another attempt makes sense, and its version as it was seen: see waiting.ts. */
export interface Awaited {
  readonly field: ReferenceField
  readonly version: string
}

/** What a follower (`sync: OnChange`) has seen of the objects that it refers to, its sources. */
export interface SyncStatus {
  /** Digest of the sources whose content is on the branch; see domain/commit/source-digest.ts. */
  readonly digest?: string
  /** Digest of the sources whose commit may have been pushed by an attempt that has not succeeded. */
  readonly committing?: string
  /** When the sources of `digest` were read and on the branch. */
  readonly seenTime?: string
  /** Commits so far. */
  readonly commits: number
}

/** Status of both kinds. Times are RFC 3339 in UTC with whole seconds. */
export interface Status {
  readonly observedGeneration: number
  /** Of a suspended resource with a request that no attempt was made at: the generation that it was handled at. */
  readonly lastHandledGeneration?: number
  readonly lastHandledRequestedAt?: string
  readonly phase: Phase
  readonly conditions?: readonly Condition[]
  readonly attempts?: number
  readonly startedAt?: string
  readonly lastAttemptTime?: string
  readonly nextAttemptTime?: string
  readonly waitingFor?: readonly Awaited[]
  readonly lapses?: number
  /** The `lastAttemptTime` of a failed attempt of a GitCommit: neither it nor one before it at this request has sent a push. */
  readonly nothingPushedTime?: string
  /** A push of an earlier attempt may still be carried out, and none has landed since. */
  readonly latePush?: boolean
  /** Where pushes may still be carried out, and none has landed since; see domain/commit/push-place.ts. */
  readonly latePushTo?: readonly string[]
  readonly credentialsUsed?: 'Primary' | 'Fallback' | 'Default'
  readonly commit?: CommitStatus
  /** Of a follower. */
  readonly sync?: SyncStatus
  readonly pullRequest?: PullRequestStatus
}
