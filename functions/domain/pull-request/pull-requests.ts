import type { ClaimCheck } from '../resource/claims.ts'
import type { ApiLogin } from '../credentials/login.ts'
import type { ApiEndpoint } from '../repository/target.ts'
import type { Share } from '../network/share.ts'
import type { Span } from '../telemetry/tracer.ts'

/** The branches of a pull request. */
export interface Branches {
  readonly base: string
  readonly head: string
  /** Owner of the fork that holds the head; undefined: the head is in the repository itself. */
  readonly headOwner: string | undefined
}

/** The text of a pull request. The body is Markdown with LF between its lines. */
export interface PullRequestText {
  readonly title: string
  readonly body: string
}

export interface PullRequestDraft extends PullRequestText {
  readonly branches: Branches
  readonly draft: boolean
}

/** A pull request as its host shows it, with the requested branches. */
export interface ShownPullRequest extends PullRequestText {
  readonly number: number
  /** Web address. */
  readonly url: string
  readonly state: 'open' | 'merged' | 'closed'
}

/** One that was created. */
export interface CreatedPullRequest extends ShownPullRequest {
  /** It was open before, and the host has replaced its title and body with those of the draft. */
  readonly replaced?: boolean
}

/**
 * Of those that were read of a list, newest first, the ones that are kept, in the same order; never none of some. Bodies are
 * long, and those of a whole list would take 30 MiB.
 */
export type Keep = (read: readonly ShownPullRequest[]) => readonly ShownPullRequest[]

/** Further fields of a pull request. Each list may be empty. */
export interface PullRequestDetails {
  readonly labels: readonly string[]
  readonly reviewers: readonly string[]
  readonly assignees: readonly string[]
}

/** Details to add to one pull request. */
export interface Addition {
  readonly number: number
  readonly detail: keyof PullRequestDetails
  readonly names: readonly string[]
}

/**
 * The pull requests of one repository. Every method fails with a Failure: AuthenticationFailed, PermissionDenied (with
 * the scope if the host names it), RepositoryNotFound, RateLimited (with the host's own time), ProviderUnavailable,
 * NetworkError, Timeout, TLSUntrusted, or PullRequestRejected for a request that the host will always refuse.
 */
export interface PullRequests {
  /**
   * Those with exactly these branches, compared by Commitlet itself, newest first: the open ones, or all of them. `keep` is
   * asked after each page which of them are kept; default: all.
   */
  find(branches: Branches, among: 'open' | 'all', keep?: Keep): Promise<readonly ShownPullRequest[]>
  /** The one with this number; undefined if it does not exist any more, or has other branches. */
  read(number: number, branches: Branches): Promise<ShownPullRequest | undefined>
  /**
   * Opens one; `exists` if the host reports that one is open already. An answer counts as success only if it has the
   * status for "created", a number, an address and both branches.
   * @throws Failure additionally HeadNotFound (naming the branch that is missing), NothingToMerge
   */
  create(draft: PullRequestDraft): Promise<CreatedPullRequest | 'exists'>
  /** Replaces title and body. A draft stays a draft. */
  update(shown: ShownPullRequest, text: PullRequestText): Promise<void>
  /**
   * Adds the missing labels, reviewers or assignees, and removes none. Returns a sentence for each that the host does
   * not know or accept, while the others are added; throws if none could be added.
   */
  add(number: number, detail: keyof PullRequestDetails, names: readonly string[]): Promise<readonly string[]>
}

/** The same as a host offers them, and what its creations need. */
export interface HostedPullRequests extends PullRequests {
  /** A creation changes one that is open, without an error: an open one is looked for right before it. */
  readonly creationReplaces?: boolean
  /**
   * Where the host has several names for a repository, and this is not the usual one: asks for its own path, by which others
   * call the same.
   */
  readonly ownPath?: (() => Promise<readonly string[]>) | undefined
}

/** The API of a host, seen from one repository. */
export interface Endpoint {
  /** Without a slash at its end, such as https://api.github.com or https://git.example.com/gitlab/api/v4. */
  readonly baseURL: string
  /** The repository's path at its host without that of the installation, such as ["acme", "shop"]. */
  readonly repository: readonly string[]
  /** `spec.repository`, for sentences. */
  readonly shown: string
  /**
   * Called before any request to a repository that was renamed: `repository` is its new path.
   * @throws Failure ReferenceForbidden if the operator or the credentials do not allow that repository
   */
  readonly permit: Permit
  readonly fetch: Fetch
  readonly share: Share
  /** Whether an answer of so many values is read, asked once for each. Left out: any. */
  readonly mayHave?: ((values: number) => boolean) | undefined
  /**
   * Lets others with the same token call before a change that rests on what was read. Whether it had to wait: then that is read again.
   * Left out: there are no others. Before a GET or a POST, `fetch` does it.
   */
  readonly pass?: (() => Promise<boolean>) | undefined
}

/** Throws ReferenceForbidden if these credentials must not be used for the repository with this path. */
export type Permit = (repository: readonly string[]) => void

/**
 * Like `fetch` of the web platform, but only for the API: the connection goes to checked addresses, redirects are
 * returned and not followed, the body is bounded and complete, and the attempt's deadline applies.
 * @throws Failure AddressForbidden, NetworkError, Timeout, TLSUntrusted, ProviderUnavailable
 */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>

export interface FetchInit {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | SentBody
  /**
   * It requests a page of a list that strangers fill: 2 MiB at most, and 12 MiB for all of them, so that they leave room
   * for other answers. A larger one is a Failure that `isTooLarge` knows; smaller pages may be requested then.
   */
  readonly isPage?: boolean
  /** Asked when the first byte is to be sent, once there is a connection: otherwise nothing is sent, and it is a Timeout. */
  readonly mayBegin?: (() => boolean) | undefined
  /** Waited for after each 256 KiB of the answer; nothing more is read meanwhile. */
  readonly readOn?: (() => Promise<unknown>) | undefined
}

/** A body that is made as it is sent, so that a host which does not read it keeps nothing in memory. */
export interface SentBody {
  /** How many there are in all. */
  readonly bytes: number
  readonly pieces: () => Iterable<Buffer>
}

/** The default export of each provider. It makes no request before one of the methods is called. */
export type Connect = (endpoint: Endpoint, login: ApiLogin) => HostedPullRequests

/** The branches of a pull request, and the API of its repository. */
export interface ApiTarget extends ApiEndpoint {
  /** `spec.repository`, for sentences. */
  readonly shown: string
  readonly branches: Branches
  /** As in Endpoint. */
  readonly permit: Permit
}

/** Who calls an API. */
export interface ApiCaller {
  readonly login: ApiLogin
  /** What the attempt has sent to the host before, with other credentials (`sentWith`): it is not shown either. */
  readonly sent?: readonly string[] | undefined
  readonly signal: AbortSignal
  /** Of the resource: its log-ins that fail are bounded, and namespaces take turns. */
  readonly namespace?: string
  /** Confirmed before each request that changes something; left out: nobody else writes. */
  readonly claim?: ClaimCheck | undefined
  /** What the calls belong to in a trace. */
  readonly span?: Span | undefined
}

/**
 * Calls `work` with the pull requests of a repository. For the same branches of the same repository one is created at a
 * time, so that two resources never open two. Few call at a time with the same token, in fair turns of their namespaces,
 * and none while its rate limit lasts. Waiting ends when the signal fires.
 * @throws Failure what `work` and the connection to the API throw
 */
export type WithPullRequests = <T>(
  target: ApiTarget,
  by: ApiCaller,
  work: (pullRequests: PullRequests) => Promise<T>,
) => Promise<T>
