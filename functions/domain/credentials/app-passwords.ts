import type { RepositoryAddress } from '../repository/address.ts'
import type { Login } from './login.ts'
import { Failure } from '../failure.ts'
import { publicHost } from '../repository/hosts.ts'

/** What stands beside Bitbucket's access tokens and API tokens: any other user name may go with an app password. */
const TOKEN_USERNAMES = ['x-token-auth', 'x-bitbucket-api-token-auth']

/**
 * The error as it is, and where Bitbucket has refused what may be an app password, with the hint that it takes none
 * since July 2026 (Atlassian's notice "Bitbucket Cloud transitions to API tokens").
 */
export function hintAppPasswords(error: unknown, login: Login, { host }: RepositoryAddress): unknown {
  if (!(error instanceof Failure) || error.reason !== 'AuthenticationFailed') return error
  if (login.method !== 'password' || TOKEN_USERNAMES.includes(login.username)) return error
  if (publicHost(host)?.name !== 'bitbucket') return error
  const hint = 'Bitbucket takes no app passwords any more, but API tokens and access tokens.'
  return new Failure(error.reason, `${error.message.replace(/\.$/, '')}; ${hint}`, {
    cause: error.cause,
    retry: error.retry,
  })
}
