import type { TraceContext } from '../telemetry/trace-context.ts'

/** The API group, its version and the names that the CRDs, the code and the log lines share. */
export const GROUP = 'commitlet.dev'
export const VERSION = 'v1'
export const API_VERSION = `${GROUP}/${VERSION}`

/** Both kinds and their plural names in the API. */
export const PLURALS = { GitCommit: 'gitcommits', PullRequest: 'pullrequests' } as const

export type Kind = keyof typeof PLURALS
export const KINDS = ['GitCommit', 'PullRequest'] as const satisfies readonly Kind[]

/** Annotations of the resources (and, the last two, of Secrets). */
export const REQUESTED_AT = `${GROUP}/requested-at`
export const REQUESTED_BY = `${GROUP}/requested-by`
export const REQUESTER = `${GROUP}/requester`
export const REQUESTER_SIGNATURE = `${GROUP}/requester-signature`
/** The generation of the last request, where only `spec.suspend` has changed since. */
export const REQUEST_GENERATION = `${GROUP}/request-generation`
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

/** The key that signs a commit. */
export interface Signing {
  readonly secretName: string
  /** Default: `ssh-privatekey`. */
  readonly privateKeyKey?: string
  /** Default: `ssh`. */
  readonly format?: 'ssh' | 'openpgp'
}

/** A reference to an object of the cluster; `namespace`: default the resource's own. */
export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

/** An object and the path where it is committed. */
export interface ResourceRef extends ObjectReference {
  readonly path: string
}

/** An object, or one field of it. */
export interface FieldReference extends ObjectReference {
  /** The path of the field; see domain/field-path. */
  readonly field?: string
}

/** The document of a file of several: its number from 0, or the one that has this value at this field. */
export interface DocumentChoice {
  readonly index?: number
  readonly field?: string
  readonly value?: string
}

/** One field of a file that gets another value; exactly one of `value`, which is any JSON, and `valueFrom`. */
export interface FieldChange {
  readonly field: string
  readonly value?: unknown
  readonly valueFrom?: { readonly resourceRef: FieldReference & { readonly field: string } }
  readonly mustExist?: boolean
  readonly document?: DocumentChoice
}

/** One file of a commit: exactly one of the fields besides `path`. */
export interface FileEntry {
  readonly path: string
  readonly resourceRef?: FieldReference
  readonly content?: string
  readonly remove?: boolean
  readonly set?: readonly FieldChange[]
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
  /** No attempt starts while it is true. */
  readonly suspend?: boolean
}

/** Whether a commit is made once for a request, or again whenever what it refers to has changed. */
export type Sync = 'Once' | 'OnChange'

/** How the commit gets to the branch: by a push, or made by the API of its host, which signs it. */
export type CommitVia = 'Git' | 'API'

export interface GitCommitSpec extends RemoteSpec {
  /** Default: `Once`. */
  readonly sync?: Sync
  /** Of a follower: how often its sources are looked at without an event; see following.ts. */
  readonly interval?: string
  readonly branch?: string
  readonly message: string
  /** Short for one file of `files`; exactly one of both. */
  readonly resourceRef?: ResourceRef
  readonly files?: readonly FileEntry[]
  /** Default: the operator's key where there is one for the repository, else none. */
  readonly signing?: Signing | undefined
  /** Default: `Git`, which pushes it. */
  readonly commitVia?: CommitVia
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

/** The fields of a spec that name an object which an attempt reads. */
export type ReferenceField = `spec${string}resourceRef` | SecretField

/** The fields that name a Secret. */
export const SECRET_FIELDS = ['spec.credentials', 'spec.fallbackCredentials', 'spec.signing'] as const
export type SecretField = (typeof SECRET_FIELDS)[number]

/** Whether it is one that names a Secret. */
export function isSecretField(field: ReferenceField): field is SecretField {
  return SECRET_FIELDS.some((one) => one === field)
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

/** How a resource follows its sources. */
export interface Following {
  readonly intervalSeconds: number
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
  /** A push of an earlier attempt may still be carried out. */
  readonly latePush?: boolean
  readonly credentialsUsed?: 'Primary' | 'Fallback' | 'Default'
  readonly commit?: CommitStatus
  /** Of a follower. */
  readonly sync?: SyncStatus
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
