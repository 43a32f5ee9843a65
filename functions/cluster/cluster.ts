import type { Access, ServedKind } from '../domain/gate/access.ts'
import type { SecretData } from '../domain/credentials/secret-keys.ts'
import type { Envelope, ObjectRef } from '../domain/resource/resource.ts'
import type { Kind } from '../domain/resource/api-names.ts'
import type { ObjectReference } from '../domain/spec/spec.ts'
import type { Phase, Status } from '../domain/resource/stored-status.ts'
import type { UserInfo } from '../domain/requester/user-info.ts'
import type { InTurn } from './calls/slow-calls.ts'

/** A Secret as it was read. */
export interface Secret extends SecretData {
  /** See `readVersion`. */
  readonly version: string
}

/** A row of a list: the fields that decide whether a resource is due, without its spec. */
export interface ListedResource {
  readonly ref: ObjectRef & { readonly uid: string; readonly generation: number }
  readonly deleting: boolean
  readonly requestedAt: string | undefined
  readonly observedGeneration: number
  readonly lastHandledRequestedAt: string | undefined
  readonly nextAttemptTime: string | undefined
  /** The reason of its condition Ready. */
  readonly reason: string | undefined
  /** `spec.interval` of a follower, if it says one. */
  readonly interval?: string | undefined
  /** What the row costs to read, in rows of the usual size: 1 for most, more where its metadata is large. */
  readonly weight: number
}

/** Which resources of a kind to list: without members, the first page of all. */
export interface ListQuery {
  readonly phase?: Phase | undefined
  /** Only those that follow their sources. */
  readonly follows?: true | undefined
  /** Only resources of this namespace. */
  readonly namespace?: string | undefined
  /** No resources of these namespaces. */
  readonly except?: readonly string[] | undefined
  /** Where the page begins: `next` of the page before, whose query has to be the same otherwise. */
  readonly next?: string | undefined
  /** Rows of the first page of such a list, whose rows may be large. Default: as many as a page has at most. */
  readonly first?: number
}

/** Without `next`, there are no more. A page may be empty and have a `next`. */
export interface ListPage {
  readonly rows: readonly ListedResource[]
  readonly next: string | undefined
}

/** A Kubernetes Event, which `kubectl describe` lists. */
export interface ClusterEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/** An object by its name; for a cluster-scoped kind `namespace` is ignored. */
export type NamedObject = ObjectReference & { readonly namespace: string }

/** Who reads an object. */
export interface ReadBy {
  /** Of the resource that names it: each namespace has a share of the calls. */
  readonly namespace: string
  /** Ends the read. */
  readonly signal: AbortSignal
  /** Bytes that the object may have: one with more is NotSupported. Default: those of any answer. */
  readonly most?: number | undefined
}

/** A turn for a call: that of a resource of this namespace among all attempts, or any other one. */
export type CallTurn = Pick<ReadBy, 'namespace'> | { readonly inTurn: InTurn }

/** For whom a Secret is read. */
export interface SecretReader {
  /** Ends the read. */
  readonly signal: AbortSignal
  /** Does what holds the thread, such as parsing the Secret, when it is the turn of the Secret's namespace. */
  readonly inTurn: <T>(work: () => T) => Promise<T>
}

/**
 * The port to the Kubernetes API, for both programs. Every call has its own deadline. Unless documented otherwise, a
 * call throws a Failure: ReferenceNotFound, ReferenceForbidden, RateLimited, NetworkError, Timeout, ProviderUnavailable
 * or NotSupported.
 */
export interface Cluster {
  /** The API server's time, by which claims and retries go; see server-clock.ts. */
  now(): Date
  /** The GitCommit or PullRequest as stored; undefined if it does not exist. */
  readResource(ref: ObjectRef): Promise<unknown>
  /**
   * The object that a GitCommit refers to, as the API server sent it: as text, to keep the order of keys and every digit.
   * `served` is how the kind was served when the rights were reviewed; for a cluster-scoped kind `namespace` is ignored.
   */
  readObject(ref: NamedObject, served: ServedKind, by?: ReadBy): Promise<string>
  /** The plural and the scope of a kind; undefined if the cluster does not serve it. `by`: whose turn a call takes; default: at once. */
  discover(apiVersion: string, kind: string, by?: CallTurn): Promise<ServedKind | undefined>
  /**
   * Fails also with CredentialsInvalid if the Secret has too many keys. `by`: each namespace has a share of such calls, and
   * what `inTurn` throws is thrown.
   */
  readSecret(namespace: string, name: string, by?: SecretReader): Promise<Secret>
  /**
   * The version of an object: its uid and resourceVersion, MISSING or UNREADABLE (domain/resource/waiting.ts). Its content
   * is not read.
   */
  readVersion(ref: NamedObject, served: ServedKind, by?: ReadBy): Promise<string>
  /**
   * Whether this user has this access. The result "allowed" is at most 5 s old. `by`: for a resource of this namespace, in the
   * turns of all of them.
   */
  reviewAccess(user: UserInfo, access: Access, by?: Pick<ReadBy, 'namespace'>): Promise<boolean>
  /**
   * Whether the API server knows all rights: not while it starts, nor for some seconds after an authoriser that it asks has not
   * answered. False if it does not answer itself; never throws.
   */
  knowsRights(): Promise<boolean>
  /**
   * Writes the status, guarded by the resourceVersion that was read. Status fields that this release does not know are
   * kept. Returns the stored resource, or CONFLICT if another writer changed or deleted it first.
   */
  patchStatus(resource: Envelope, status: Status): Promise<unknown>
  /** One page of the resources of the kind, in the order of namespace and name. */
  listPage(kind: Kind, query: ListQuery): Promise<ListPage>
  /**
   * All resources of the kind that are not settled, as the API server remembers them, which may be a little behind;
   * undefined if there are more than some hundred, which are read in pages.
   */
  listUnsettled(kind: Kind): Promise<readonly ListedResource[] | undefined>
  /** Records a Kubernetes Event, behind the caller unless very many of its namespace wait; never throws. */
  recordEvent(resource: Envelope, event: ClusterEvent): Promise<void>
  /** Resolves once every Event is recorded, or given up. */
  flushEvents(): Promise<void>
}

/** Returned by `patchStatus` if another writer was first. */
export const CONFLICT = Symbol('conflict')
