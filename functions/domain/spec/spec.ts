/** The Secret that logs in, and its keys; those that are left out are found by the type of the Secret. */
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

/** The fields of a spec that name an object which an attempt reads. */
export type ReferenceField = `spec${string}resourceRef` | SecretField

/** The fields that name a Secret. */
export const SECRET_FIELDS = ['spec.credentials', 'spec.fallbackCredentials', 'spec.signing'] as const
export type SecretField = (typeof SECRET_FIELDS)[number]

/** Whether it is one that names a Secret. */
export function isSecretField(field: ReferenceField): field is SecretField {
  return SECRET_FIELDS.some((one) => one === field)
}
