import type { Failure } from '../failure.ts'
import { HOSTS, USUAL_TOKEN_USERNAME } from '../repository/hosts.ts'
import type { Host } from '../repository/hosts.ts'
import type { Credentials } from '../resource/resource.ts'
import { identityOf } from './login.ts'
import type { ApiLogin, PasswordLogin } from './login.ts'
import { invalidSecret, passwordKeys, requireType } from './secret-keys.ts'
import type { SecretData } from './secret-keys.ts'
import { lineIn, valuesOf } from './secret-values.ts'

/** A token or a password, the user name that stands beside it, and where both come from. */
export interface UserAndToken {
  readonly username: string | undefined
  readonly token: string
  /** Tells the source from every other. */
  readonly source: readonly string[]
  /** What must not be shown. */
  readonly secrets: readonly string[]
  /** The CredentialsInvalid for the user name; `complaint` goes on after the name of what holds it. */
  readonly refuse: (complaint: string) => Failure
}

/** RFC 7617, section 2: the first colon ends the user name. */
const COLON = 'has a user name with a colon in it, which HTTPS cannot carry.'

/**
 * What a Secret holds for an https address, or (`user`) for another: by the keys that are named, else by its type and
 * the usual names. Throws CredentialsInvalid where the type is not one of ours, or a key is missing, empty, not text or
 * above 8 KiB. No sentence holds a value.
 */
export function userAndTokenIn(
  secret: SecretData,
  credentials: Credentials,
  user?: Parameters<typeof passwordKeys>[2],
): UserAndToken {
  requireType(secret)
  const { usernameKey, secretKey } = passwordKeys(credentials, secret, user)
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

/** What Git needs to log in over HTTPS at this host. Throws CredentialsInvalid for a user name that HTTPS cannot carry. */
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

/** What the API of this host needs. Throws CredentialsInvalid besides where it takes no such user name. */
export function apiLogin(given: UserAndToken, host: Host | undefined): ApiLogin {
  const { username, token, source, secrets } = given
  const complaint = usernameComplaint(username, host)
  if (complaint !== undefined) throw given.refuse(complaint)
  return {
    username: standsForNobody(username) ? undefined : username,
    secret: token,
    identity: identityOf(source, ['api', username ?? '', token]),
    secrets: username === undefined ? secrets : [...secrets, `${username}:${token}`],
  }
}

/** Why the API of this host takes no such user name, after the name of what holds it; undefined: it may. */
export function usernameComplaint(given: string | undefined, host: Host | undefined): string | undefined {
  if (given === undefined) return undefined
  if (given.includes(':')) return COLON
  const taken = host?.apiUsername
  return taken === undefined || taken.pattern.test(given) ? undefined : taken.complaint
}

function gitUsername(given: string | undefined, host: Host | undefined): string {
  if (given === undefined) return host?.tokenUsername ?? USUAL_TOKEN_USERNAME
  return given.includes('@') ? (host?.emailUsername ?? given) : given
}

// On every host: the operator's default has one user name for all.
function standsForNobody(given: string | undefined): boolean {
  return given !== undefined && HOSTS.some(({ nobodyUsername }) => nobodyUsername === given)
}
