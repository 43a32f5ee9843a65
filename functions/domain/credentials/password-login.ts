import type { Failure } from '../failure.ts'
import { HOSTS, USUAL_TOKEN_USERNAME } from '../repository/hosts.ts'
import type { Host } from '../repository/hosts.ts'
import type { Credentials } from '../spec/spec.ts'
import { identityOf } from './login.ts'
import type { ApiLogin, PasswordLogin } from './login.ts'
import { invalidSecret, passwordKeys, requireType } from './secret-keys.ts'
import type { SecretData } from './secret-keys.ts'
import { lineIn, valuesOf } from './secret-values.ts'

/** A token or a password, its user name, and where both come from. */
export interface UserAndToken {
  readonly username: string | undefined
  readonly token: string
  /** Identifies the source. */
  readonly source: readonly string[]
  /** Values that must not be shown. */
  readonly secrets: readonly string[]
  /** Makes the CredentialsInvalid for the user name; in its message, `complaint` follows the name of the source. */
  readonly refuse: (complaint: string) => Failure
}

/** RFC 7617, section 2: the first colon ends the user name. */
const COLON = 'has a user name with a colon in it, which HTTPS cannot carry.'

/**
 * The user name and token of a Secret, for an https address or (`neededBy`) for an API: from the keys that the
 * credentials name, else by the type of the Secret and the usual names. Throws CredentialsInvalid if the type is not
 * supported, or a key is missing, empty, not text or above 8 KiB. No message contains a value.
 */
export function userAndTokenIn(
  secret: SecretData,
  credentials: Credentials,
  neededBy?: Parameters<typeof passwordKeys>[2],
): UserAndToken {
  requireType(secret)
  const { usernameKey, secretKey } = passwordKeys(credentials, secret, neededBy)
  const token = lineIn(secret, secretKey, credentials.tokenKey === undefined ? 'passwordKey' : 'tokenKey')
  const username = usernameKey === undefined ? undefined : lineIn(secret, usernameKey, 'usernameKey')
  return {
    username,
    token,
    source: [secret.namespace, secret.name],
    secrets: [...(username === undefined ? [] : [username]), token, ...valuesOf(secret)],
    refuse: (complaint) => invalidSecret(secret, complaint),
  }
}

/** What Git needs to log in over HTTPS to this host. Throws CredentialsInvalid for a user name that HTTPS cannot carry. */
export function passwordLogin(given: UserAndToken, host: Host | undefined): PasswordLogin {
  const username = gitUsername(given.username, host)
  if (username.includes(':')) throw given.refuse(COLON)
  return {
    method: 'password',
    username,
    password: given.token,
    identity: identityOf(given.source, [username, given.token]),
    secrets: given.secrets,
  }
}

/** What the API of this host needs. Throws CredentialsInvalid if the API does not accept the user name. */
export function apiLogin(given: UserAndToken, host: Host | undefined): ApiLogin {
  const { username, token, source, secrets } = given
  const complaint = usernameComplaint(username, host)
  if (complaint !== undefined) throw given.refuse(complaint)
  return {
    username: isPlaceholder(username) ? undefined : username,
    secret: token,
    identity: identityOf(source, ['api', username ?? '', token]),
    secrets: username === undefined ? secrets : [...secrets, `${username}:${token}`],
  }
}

/** Why the API of this host does not accept the user name, as the end of a sentence; undefined if it may. */
export function usernameComplaint(given: string | undefined, host: Host | undefined): string | undefined {
  if (given === undefined) return undefined
  if (given.includes(':')) return COLON
  const accepted = host?.apiUsername
  return accepted === undefined || accepted.pattern.test(given) ? undefined : accepted.complaint
}

function gitUsername(given: string | undefined, host: Host | undefined): string {
  if (given === undefined) return host?.tokenUsername ?? USUAL_TOKEN_USERNAME
  return given.includes('@') ? (host?.emailUsername ?? given) : given
}

// Checked for every host, because the operator's default credentials have one user name for all hosts.
function isPlaceholder(given: string | undefined): boolean {
  return given !== undefined && HOSTS.some(({ nobodyUsername }) => nobodyUsername === given)
}
