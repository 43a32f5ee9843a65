import type { PasswordLogin } from './login.ts'
import { identityOf, requireType } from './password-login.ts'
import type { LoginRequest } from './password-login.ts'
import { apiUsername, hostOf } from '../repository/hosts.ts'
import type { Host } from '../repository/hosts.ts'
import { invalidSecret, passwordKeys } from './secret-keys.ts'
import type { SecretData } from './secret-keys.ts'
import { lineIn, valuesOf } from './secret-values.ts'

/** What the API of a provider needs to log in. */
export interface ApiLogin extends Pick<PasswordLogin, 'identity' | 'secrets'> {
  /** As it was given, such as an e-mail address; undefined: a token alone. */
  readonly username: string | undefined
  readonly secret: string
}

/**
 * What the API needs to log in for this repository, which the Secret has to be allowed to go to, over HTTPS or SSH.
 * Throws CredentialsInvalid where the type is not one of ours, a key is missing, empty, not text or above 8 KiB, or
 * the API takes no such user name. No sentence holds a value.
 */
export function apiLogin({ credentials, address, provider }: LoginRequest, secret: SecretData): ApiLogin {
  requireType(secret)
  const { usernameKey, secretKey } = passwordKeys(credentials, secret, 'the API of a provider')
  const value = lineIn(secret, secretKey, credentials.tokenKey === undefined ? 'passwordKey' : 'tokenKey')
  const given = usernameKey === undefined ? undefined : lineIn(secret, usernameKey, 'usernameKey')
  const complaint = usernameComplaint(given, hostOf(address, provider))
  if (complaint !== undefined) throw invalidSecret(secret, complaint)
  const used = given === undefined ? [value] : [given, value]
  const sent = given === undefined ? [value] : [given, value, `${given}:${value}`]
  return {
    username: apiUsername(given),
    secret: value,
    identity: identityOf(secret, ['api', ...used]),
    secrets: [...sent, ...valuesOf(secret)],
  }
}

/** Why the API of this host takes no such user name, after the name of what holds it; undefined: it may. */
export function usernameComplaint(given: string | undefined, host: Host | undefined): string | undefined {
  if (given === undefined) return undefined
  // RFC 7617, section 2: the first colon ends the user name.
  if (given.includes(':')) return 'has a user name with a colon in it, which HTTPS cannot carry.'
  const taken = host?.apiUsername
  return taken === undefined || taken.pattern.test(given) ? undefined : taken.complaint
}
