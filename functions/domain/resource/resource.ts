/** The API group, its version and the names that the CRDs, the code and the log lines share. */
export const GROUP = 'commitlet.dev'
export const VERSION = 'v1'
export const API_VERSION = `${GROUP}/${VERSION}`

/** Both kinds and their plural names in the API. */
export const PLURALS = { GitCommit: 'gitcommits', PullRequest: 'pullrequests' } as const

export type Kind = keyof typeof PLURALS

/** Annotations of the resources (and, the last two, of Secrets). */
export const REQUESTED_AT = `${GROUP}/requested-at`
export const REQUESTED_BY = `${GROUP}/requested-by`
export const REQUESTER = `${GROUP}/requester`
export const REQUESTER_SIGNATURE = `${GROUP}/requester-signature`
export const ALLOWED_REPOSITORIES = `${GROUP}/allowed-repositories`
export const ALLOWED_PATHS = `${GROUP}/allowed-paths`

export interface ObjectMeta {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly generation: number
  readonly resourceVersion: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly deletionTimestamp?: string
}

export interface Credentials {
  readonly secretName: string
  readonly tokenKey?: string
  readonly usernameKey?: string
  readonly passwordKey?: string
  readonly privateKeyKey?: string
  readonly knownHostsKey?: string
  readonly appIDKey?: string
  readonly installationIDKey?: string
}

export interface ResourceRef {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly path: string
}

export interface ProviderConfig {
  readonly baseURL?: string
  readonly uploadURL?: string
}

/** The fields of both kinds that describe the remote and how to log in to it. */
export interface RemoteSpec {
  readonly repository: string
  readonly credentials?: Credentials
  readonly fallbackCredentials?: Credentials
  readonly provider?: string
  readonly providerConfig?: ProviderConfig
}

export interface GitCommitSpec extends RemoteSpec {
  readonly branch?: string
  readonly message: string
  readonly resourceRef: ResourceRef
}

export interface PullRequestSpec extends RemoteSpec {
  readonly baseBranch: string
  readonly headBranch: string
  readonly title: string
  readonly body?: string
  readonly draft?: boolean
  readonly labels?: readonly string[]
  readonly reviewers?: readonly string[]
  readonly assignees?: readonly string[]
}

export type Phase = 'Pending' | 'Progressing' | 'Retrying' | 'Succeeded' | 'Failed'

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

/** The fields of a spec that name an object which an attempt reads. */
export type ReferenceField = 'spec.resourceRef' | 'spec.credentials' | 'spec.fallbackCredentials'

/** An object that has to change before another attempt makes sense, and its version as it was seen: see waiting.ts. */
export interface Awaited {
  readonly field: ReferenceField
  readonly version: string
}

/** Status of both kinds. Times are RFC 3339 in UTC with whole seconds. */
export interface Status {
  readonly observedGeneration: number
  readonly lastHandledRequestedAt?: string
  readonly phase: Phase
  readonly conditions?: readonly Condition[]
  readonly attempts?: number
  readonly startedAt?: string
  readonly lastAttemptTime?: string
  readonly nextAttemptTime?: string
  readonly waitingFor?: readonly Awaited[]
  readonly lapses?: number
  readonly credentialsUsed?: 'Primary' | 'Fallback' | 'Default'
  readonly commit?: CommitStatus
  readonly pullRequest?: PullRequestStatus
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
