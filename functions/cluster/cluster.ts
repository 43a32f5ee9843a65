import type { Access, ServedKind } from '../domain/gate/access.ts'
import type { SecretData } from '../domain/credentials/secret-keys.ts'
import type { Envelope, Kind, ObjectRef, ResourceRef, Status } from '../domain/resource/resource.ts'
import type { UserInfo } from '../domain/requester/user-info.ts'

export type Secret = SecretData

/** A row of a sweep: everything that tells whether a resource is due, and nothing of its spec. */
export interface ListedResource {
  readonly ref: ObjectRef & { readonly uid: string; readonly generation: number }
  readonly deleting: boolean
  readonly requestedAt: string | undefined
  readonly observedGeneration: number
  readonly lastHandledRequestedAt: string | undefined
  readonly nextAttemptTime: string | undefined
}

/** A line below `kubectl describe`. */
export interface ClusterEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/**
 * The Kubernetes API as both parts see it. Every call has a deadline of its own and throws a Failure:
 * ReferenceNotFound, ReferenceForbidden, NetworkError, Timeout, ProviderUnavailable or Internal.
 */
export interface Cluster {
  /** The resource as stored; undefined where there is none of that name. */
  readResource(ref: ObjectRef): Promise<unknown>
  /**
   * The object that a GitCommit refers to, as the API server sent it: the text keeps key order and every digit. It
   * is read by `served`, as the kind was when rights were reviewed; a cluster-scoped one ignores `namespace`.
   */
  readObject(ref: ResourceRef & { readonly namespace: string }, served: ServedKind): Promise<string>
  /** Looks the kind up by discovery; undefined where the cluster does not know it. */
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

/** What `patchStatus` answers when another writer was first. */
export const CONFLICT = Symbol('conflict')
