import { createHash } from 'node:crypto'
import type { RepositoryAddress } from '../repository/address.ts'
import type { PasswordLogin } from './login.ts'
import { gitUsername, hostOf } from '../repository/hosts.ts'
import type { Credentials } from '../resource/resource.ts'
import { invalidSecret, passwordKeys } from './secret-keys.ts'
import type { SecretData } from './secret-keys.ts'
import { lineIn, valuesOf } from './secret-values.ts'

/** What a login is made for. */
export interface LoginRequest {
  readonly credentials: Credentials
  readonly address: RepositoryAddress
  /** `spec.provider`. */
  readonly provider: string | undefined
}

/** So much of a type, which may be any text, is repeated. */
const TYPE_SHOWN = 100
const TYPES = ['Opaque', 'kubernetes.io/basic-auth', 'kubernetes.io/ssh-auth']

/**
 * What Git needs to log in over HTTPS at this repository with this Secret, which has to be allowed to go there.
 * Throws CredentialsInvalid where the type is not one of ours, or a key is missing, empty, not text or above 8 KiB.
 * No sentence holds a value.
 */
export function passwordLogin(
  { credentials, address, provider }: LoginRequest,
  secret: SecretData,
): PasswordLogin {
  requireType(secret)
  const { usernameKey, secretKey } = passwordKeys(credentials, secret)
  const password = lineIn(secret, secretKey, credentials.tokenKey === undefined ? 'passwordKey' : 'tokenKey')
  const given = usernameKey === undefined ? undefined : lineIn(secret, usernameKey, 'usernameKey')
  const username = gitUsername(given, hostOf(address, provider))
  // RFC 7617, section 2: the first colon ends the user name.
  if (username.includes(':'))
    throw invalidSecret(secret, 'has a user name with a colon in it, which HTTPS cannot carry.')
  const used = given === undefined ? [password] : [given, password]
  const secrets = [...used, ...valuesOf(secret)]
  return {
    method: 'password',
    username,
    password,
    identity: identityOf(secret, [username, password]),
    secrets,
  }
}

/** Throws CredentialsInvalid for a Secret of a type that holds something else than credentials for Git. */
export function requireType(secret: SecretData): void {
  if (TYPES.includes(secret.type)) return
  throw invalidSecret(
    secret,
    `is of type "${secret.type.slice(0, TYPE_SHOWN)}", but has to be of type ${TYPES.join(', ')}; use another Secret.`,
  )
}

/** Equal for equal values of the same Secret, different otherwise; tells nothing of them. */
export function identityOf(secret: SecretData, values: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([secret.namespace, secret.name, ...values]))
    .digest('hex')
}
