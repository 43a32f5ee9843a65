import type { RepositoryAddress } from '../repository/address.ts'
import type { Login } from './login.ts'
import { Failure } from '../failure.ts'
import { publicHost } from '../repository/hosts.ts'

/**
 * The error as it is, and where the public host has refused what may be a kind of password that it no longer takes,
 * with the host's hint.
 */
export function hintAppPasswords(error: unknown, login: Login, { host }: RepositoryAddress): unknown {
  if (!(error instanceof Failure) || error.reason !== 'AuthenticationFailed') return error
  const row = publicHost(host)
  if (row?.passwordHint === undefined || login.method !== 'password') return error
  if ([row.tokenUsername, row.emailUsername].includes(login.username)) return error
  return new Failure(error.reason, `${error.message.replace(/\.$/, '')}; ${row.passwordHint}`, {
    cause: error.cause,
    retry: error.retry,
  })
}
