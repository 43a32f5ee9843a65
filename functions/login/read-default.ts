import { readFileSync } from 'node:fs'
import { defaultLoginFor, requireDefaultAllowed } from '../domain/credentials/default-credentials.ts'
import type { TokenSource } from '../domain/credentials/default-credentials.ts'
import { Failure } from '../domain/failure.ts'
import { orUndefined } from '../domain/settings.ts'
import type { World } from '../world.ts'
import type { BoundCredentials } from './credential-source.ts'

/**
 * The operator's current default credentials, for this namespace. Throws CredentialsInvalid if there are none or their
 * token cannot be read.
 */
export function readDefault(namespace: string, { settings }: Pick<World, 'settings'>): BoundCredentials {
  const { defaults } = settings
  if (defaults === undefined) throw noDefault()
  const token = readToken(defaults.source)
  return {
    requireAllowed(target, written) {
      requireDefaultAllowed(defaults, { namespace, target, written })
    },
    loginFor: (calls, target) => defaultLoginFor(calls, target, { username: defaults.username, token }),
  }
}

/**
 * The operator's current token, trimmed. Throws CredentialsInvalid if its file cannot be read or does not contain a
 * token in one line.
 */
export function readToken(source: TokenSource): string {
  if ('token' in source) return source.token
  const token = orUndefined(() => readFileSync(source.file, 'utf8'))?.trim() ?? ''
  if (token !== '' && !/\p{Cc}/u.test(token)) return token
  throw new Failure(
    'CredentialsInvalid',
    "The operator's default token cannot be read from the file that DEFAULT_GIT_TOKEN_FILE names; ask your Commitlet operator, or name a Secret in spec.credentials.",
  )
}

function noDefault(): Failure {
  return new Failure(
    'CredentialsInvalid',
    'spec.credentials is missing, and the operator has set no default credentials (DEFAULT_GIT_TOKEN); name a Secret there.',
  )
}
