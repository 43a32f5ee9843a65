import type { App } from '../domain/credentials/app.ts'
import type { IssuedToken, Permissions } from '../domain/credentials/app-login.ts'
import type { Endpoint } from '../domain/pull-request/pull-requests.ts'

/** The repository that a token is for, and what it may do there. */
export interface TokenPlace extends Pick<Endpoint, 'baseURL' | 'repository' | 'shown' | 'fetch' | 'share'> {
  readonly permissions: Permissions
  /** The time by which Commitlet goes. */
  readonly now: Date
}

/**
 * Asks the API of a host for the token of an App. The default way of a host that has Apps.
 * @throws Failure AuthenticationFailed, PermissionDenied, RepositoryNotFound, CredentialsInvalid, RateLimited, and those of
 *   the network
 */
export type AskForToken = (place: TokenPlace, app: App) => Promise<IssuedToken>
