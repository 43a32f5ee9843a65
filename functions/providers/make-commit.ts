import type { ApiCommit, ApiCommitted } from '../domain/commit/commit-by-api.ts'
import type { Endpoint } from '../domain/pull-request/pull-requests.ts'

/** The repository in which a commit is made, and who makes it. */
export interface CommitPlace extends Pick<Endpoint, 'baseURL' | 'repository' | 'shown' | 'fetch' | 'share'> {
  readonly token: string
  /** To be masked in the words of the host. */
  readonly secrets: readonly string[]
}

/**
 * Lets the API of a host make one commit. The export `makeCommit` of a host that signs them.
 * @throws Failure AuthenticationFailed, PermissionDenied, RepositoryNotFound, PushRejected, RateLimited, and those of the
 *   network that come before any call
 */
export type MakeCommit = (place: CommitPlace, commit: ApiCommit) => Promise<ApiCommitted>
