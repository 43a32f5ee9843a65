import type { TraceContext } from '../telemetry/trace-context.ts'
import type { API_VERSION, Kind } from './api-names.ts'
import type { GitCommitSpec, PullRequestSpec } from '../spec/spec.ts'
import type { Status } from './stored-status.ts'

export interface ObjectMeta {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly generation: number
  readonly resourceVersion: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly deletionTimestamp?: string
}

/** How a resource follows its sources. */
export interface Following {
  readonly intervalSeconds: number
}

interface ResourceOf<K extends Kind, Spec> {
  readonly apiVersion: typeof API_VERSION
  readonly kind: K
  readonly metadata: ObjectMeta
  readonly spec: Spec
  readonly status?: Status
}

export type GitCommit = ResourceOf<'GitCommit', GitCommitSpec>

export type PullRequest = ResourceOf<'PullRequest', PullRequestSpec>

export type Resource = GitCommit | PullRequest

/** A resource without its spec: enough to decide whether and when an attempt starts, but not what it does. */
export interface Envelope {
  readonly kind: Kind
  readonly metadata: ObjectMeta
  /** When somebody changed more than its status last; RFC 3339. Left out where the API server does not tell. */
  readonly appliedAt?: string
  /** `spec.suspend`; left out where it is not true. */
  readonly suspended?: true
  /** Of a follower. */
  readonly follows?: Following
  readonly status?: Status
}

/** A reference to one resource; `uid`, `generation` and `request` if the sender knew them. */
export interface ObjectRef {
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
  readonly uid?: string
  readonly generation?: number
  /** Digest of `commitlet.dev/requested-at`, whose change does not change the generation. */
  readonly request?: string
  /** The trace that the sender has begun, if it may be continued. */
  readonly trace?: TraceContext
  /** From whose review the webhook knows of it (applied-event.ts). */
  readonly caller?: string
}

/** Identifies the resource, whatever its uid and generation. */
export function resourceKey({
  kind,
  namespace,
  name,
}: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>): string {
  return `${kind} ${namespace}/${name}`
}

/**
 * Whether this is a name that the API server accepts for most objects: a DNS subdomain (RFC 1123) of at most 253
 * characters. Such a name is also safe in a URL path.
 */
export function isObjectName(name: string): boolean {
  return /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(name)
}
