import type { ApiLogin } from '../credentials/login.ts'
import type { ApiEndpoint } from '../repository/target.ts'

/** What a pull request joins. */
export interface Branches {
  readonly base: string
  readonly head: string
  /** Owner of the fork that holds the head; undefined: the head is in the repository itself. */
  readonly headOwner: string | undefined
}

/** What a pull request says. The body is Markdown with LF between its lines. */
export interface PullRequestText {
  readonly title: string
  readonly body: string
}

export interface PullRequestDraft extends PullRequestText {
  readonly branches: Branches
  readonly draft: boolean
}

/** A pull request as its host shows it, which joins the branches that were asked for. */
export interface ShownPullRequest extends PullRequestText {
  readonly number: number
  /** Web address. */
  readonly url: string
  readonly state: 'open' | 'merged' | 'closed'
}

/** What a pull request gets besides. Each list may be empty. */
export interface PullRequestDetails {
  readonly labels: readonly string[]
  readonly reviewers: readonly string[]
  readonly assignees: readonly string[]
}

/** What one pull request is to get. */
export interface Addition {
  readonly number: number
  readonly detail: keyof PullRequestDetails
  readonly names: readonly string[]
}

/**
 * The pull requests of one repository. Every verb fails with a Failure: AuthenticationFailed, PermissionDenied (with
 * the scope where the host names it), RepositoryNotFound, RateLimited (with the host's own time), ProviderUnavailable,
 * NetworkError, Timeout, TLSUntrusted, or PullRequestRejected for what the host refuses for good.
 */
export interface PullRequests {
  /** Those that join exactly these branches, compared by ourselves, newest first: the open ones, or all of them. */
  find(branches: Branches, among: 'open' | 'all'): Promise<readonly ShownPullRequest[]>
  /** The one with this number; undefined where it is gone, or joins other branches. */
  read(number: number, branches: Branches): Promise<ShownPullRequest | undefined>
  /**
   * Opens one; `exists` where the host says that one is open already. It is believed only where the answer has the
   * status for "created", a number, an address and both branches.
   * @throws Failure besides: HeadNotFound (naming the branch that is missing), NothingToMerge
   */
  create(draft: PullRequestDraft): Promise<ShownPullRequest | 'exists'>
  /** Replaces title and body. A draft stays one. */
  update(shown: ShownPullRequest, text: PullRequestText): Promise<void>
  /**
   * Adds the labels, reviewers or assignees that it lacks, and takes none away. Answers a sentence for each that the
   * host does not know or take, while the others are added; throws where none could be.
   */
  add(number: number, detail: keyof PullRequestDetails, names: readonly string[]): Promise<readonly string[]>
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
   * Asked for before anything is asked of a repository that was renamed: `repository` is its path by now.
   * @throws Failure ReferenceForbidden where the operator, or the credentials, may not go there
   */
  readonly permit: Permit
  readonly fetch: Fetch
}

/** Throws ReferenceForbidden where the repository of this path may not be gone to with these credentials. */
export type Permit = (repository: readonly string[]) => void

/**
 * As the `fetch` of the web platform, but for the API alone: the connection goes to checked addresses, redirects are
 * answered as they are, the body is bounded and complete, and time is up with the attempt's.
 * @throws Failure AddressForbidden, NetworkError, Timeout, TLSUntrusted, ProviderUnavailable
 */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>

export interface FetchInit {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** A file of providers/ exports one as its default. Nothing is called before a verb is. */
export type Connect = (endpoint: Endpoint, login: ApiLogin) => PullRequests

/** Which pull request, and where. */
export interface ApiTarget extends ApiEndpoint {
  /** `spec.repository`, for sentences. */
  readonly shown: string
  readonly branches: Branches
  /** As in Endpoint. */
  readonly permit: Permit
}

/**
 * Hands `work` the pull requests of a repository. One at a time for the same branches of the same repository, so that
 * two resources never open two; few at a time with the same token, and none while its limit holds. Nobody waits longer
 * than until the signal fires.
 * @throws Failure what `work` and the way to the API throw
 */
export type WithPullRequests = <T>(
  target: ApiTarget,
  by: { readonly login: ApiLogin; readonly signal: AbortSignal },
  work: (pullRequests: PullRequests) => Promise<T>,
) => Promise<T>
