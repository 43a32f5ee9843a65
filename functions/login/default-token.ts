import { readFileSync } from 'node:fs'
import { Failure } from '../domain/failure.ts'
import { orUndefined } from '../domain/settings.ts'
import type { TokenSource } from '../domain/credentials/default-credentials.ts'

/**
 * The operator's token as it is now, trimmed. Throws CredentialsInvalid where its file cannot be read or holds
 * nothing that can be a token.
 */
export function readToken(source: TokenSource): string {
  if ('token' in source) return source.token
  const token = orUndefined(() => readFileSync(source.file, 'utf8'))?.trim() ?? ''
  if (token !== '' && !/\p{Cc}/u.test(token)) return token
  throw new Failure(
    'CredentialsInvalid',
    "The operator's default token cannot be read from the file that DEFAULT_GIT_TOKEN_FILE names; ask whoever runs Commitlet, or name a Secret in spec.credentials.",
  )
}
