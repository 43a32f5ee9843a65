import type { Access, ServedKind } from '../domain/gate/access.ts'
import type { SecretData } from '../domain/credentials/secret-keys.ts'
import type { Envelope, Kind, ObjectRef, ResourceRef, Status } from '../domain/resource/resource.ts'
import type { UserInfo } from '../domain/requester/user-info.ts'

export type Secret = SecretData

/** A row of a list: what decides whether a resource is due, and nothing of its spec. */
export interface ListedResource {
  readonly ref: ObjectRef & { readonly uid: string; readonly generation: number }
  readonly deleting: boolean
  readonly requestedAt: string | undefined
  readonly observedGeneration: number
  readonly lastHandledRequestedAt: string | undefined
  readonly nextAttemptTime: string | undefined
}

/** A Kubernetes Event: a line at the end of `kubectl describe`. */
export interface ClusterEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/**
 * The port to the Kubernetes API, for both parts. Every call has a deadline of its own. Where nothing else is said, a
 * call throws a Failure: ReferenceNotFound, ReferenceForbidden, RateLimited, NetworkError, Timeout, ProviderUnavailable
 * or NotSupported.
 */
export interface Cluster {
  /** The GitCommit or PullRequest as stored; undefined where there is none of that name. */
  readResource(ref: ObjectRef): Promise<unknown>
  /**
   * The object that a GitCommit refers to, as the API server sent it: the text keeps the order of keys and every digit.
   * `served` is how the kind was served when the rights were reviewed; for a cluster-scoped kind `namespace` is ignored.
   */
  readObject(ref: ResourceRef & { readonly namespace: string }, served: ServedKind): Promise<string>
  /** The plural and the scope of a kind; undefined where the cluster does not serve it. */
  discover(apiVersion: string, kind: string): Promise<ServedKind | undefined>
  readSecret(namespace: string, name: string): Promise<Secret>
  /** May this user do this? An "allowed" is at most 5 s old. */
  reviewAccess(user: UserInfo, access: Access): Promise<boolean>
  /**
   * Writes the status, guarded by the resourceVersion that was read. What this release does not know of it stays.
   * Answers the stored resource, or `conflict` where somebody else wrote (or deleted) it first.
   */
  patchStatus(resource: Envelope, status: Status): Promise<unknown>
  /** All resources of the kind whose phase is Pending, Progressing or Retrying, in pages. */
  listUnsettled(kind: Kind): AsyncIterable<ListedResource>
  /** All resources of the kind, in pages. */
  listAll(kind: Kind): AsyncIterable<ListedResource>
  /** Records a Kubernetes Event; never throws. */
  recordEvent(resource: Envelope, event: ClusterEvent): Promise<void>
}

/** What `patchStatus` returns where another writer was first. */
export const CONFLICT = Symbol('conflict')
