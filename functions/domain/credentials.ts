import { createHash } from 'node:crypto'
import type { RepositoryAddress } from './address.ts'
import type { PasswordLogin } from './change.ts'
import { Failure } from './failure.ts'
import { hostOf } from './hosts.ts'
import type { Credentials, RemoteSpec } from './resources.ts'
import type { BoundSecret } from './secret-binding.ts'

/** A Secret as it was read. */
export interface SecretData extends BoundSecret {
  readonly type: string
  /** Decoded values by key. */
  readonly data: ReadonlyMap<string, Uint8Array>
}

/** So much of a type, which may be any text, is repeated. */
const TYPE_SHOWN = 100
const TYPES = ['Opaque', 'kubernetes.io/basic-auth', 'kubernetes.io/ssh-auth']
/** Most bytes of a token, a user name or a password: what servers commonly take as one line of a header. */
const VALUE_BYTES = 8_192
/** Values that are shorter, and not used, would mask half of every sentence. */
const SHORTEST_MASKED = 4
/** Where no user name stands beside the token and the software of the host is not known. */
const UNKNOWN_HOST_USERNAME = 'x-access-token'
/** What Bitbucket wants beside an API token, whose user name at the REST API is an e-mail address. */
const BITBUCKET_API_TOKEN_USERNAME = 'x-bitbucket-api-token-auth'

/**
 * What Git needs to log in over HTTPS at this repository with this Secret, which has to be allowed to go there.
 * Throws CredentialsInvalid where the type is not one of ours, or a key is missing, empty, not text or above 8 KiB.
 * No sentence holds a value.
 */
export function loginFor(
  spec: Pick<RemoteSpec, 'credentials' | 'provider'>,
  secret: SecretData,
  address: RepositoryAddress,
): PasswordLogin {
  if (!TYPES.includes(secret.type)) {
    throw invalid(
      secret,
      `is of type "${secret.type.slice(0, TYPE_SHOWN)}", but has to be of type ${TYPES.join(', ')}; use another Secret.`,
    )
  }
  const { usernameKey, secretKey } = keysOf(spec.credentials, secret)
  const password = valueOf(secret, secretKey)
  const given = usernameKey === undefined ? undefined : valueOf(secret, usernameKey)
  const username = usernameFor(given, hostOf(address, spec.provider))
  // RFC 7617, section 2: the first colon ends the user name.
  if (username.includes(':'))
    throw invalid(secret, `has a user name with a colon in it, which HTTPS cannot carry.`)
  const used = given === undefined ? [password] : [given, password]
  const secrets = [...used, ...otherValues(secret)]
  return { method: 'password', username, password, identity: identityOf(secret, [username, password]), secrets }
}

// A host may repeat whatever it was once given: what else lies in the Secret is not to be shown either.
function otherValues(secret: SecretData): readonly string[] {
  const small = [...secret.data.values()].filter(({ length }) => length <= VALUE_BYTES)
  return small
    .flatMap((bytes) => decode(bytes)?.trim() ?? [])
    .filter(({ length }) => length >= SHORTEST_MASKED)
}

interface Keys {
  readonly usernameKey: string | undefined
  /** Of a token or a password. */
  readonly secretKey: string
}

function keysOf(credentials: Credentials | undefined, secret: SecretData): Keys {
  const { tokenKey, usernameKey, passwordKey } = credentials ?? {}
  if (tokenKey !== undefined) return { usernameKey, secretKey: tokenKey }
  if (usernameKey !== undefined || passwordKey !== undefined) {
    return { usernameKey: usernameKey ?? 'username', secretKey: passwordKey ?? 'password' }
  }
  if (secret.type === 'kubernetes.io/basic-auth') return { usernameKey: 'username', secretKey: 'password' }
  if (secret.data.has('token')) return { usernameKey: undefined, secretKey: 'token' }
  if (secret.data.has('username') && secret.data.has('password')) {
    return { usernameKey: 'username', secretKey: 'password' }
  }
  throw invalid(
    secret,
    'holds neither "token" nor "username" and "password", which an https address needs; add them, or name other ' +
      'keys in spec.credentials.',
  )
}

function valueOf(secret: SecretData, key: string): string {
  const bytes = secret.data.get(key)
  if (bytes === undefined)
    throw invalid(secret, `has no key "${key}"; add it, or name another in spec.credentials.`)
  if (bytes.length > VALUE_BYTES) {
    throw invalid(
      secret,
      `has more than ${VALUE_BYTES} bytes in its key "${key}"; put the value there alone.`,
    )
  }
  const value = decode(bytes)?.trim()
  if (value === '') throw invalid(secret, `has nothing in its key "${key}"; put the value there.`)
  if (value !== undefined && !/\p{Cc}/u.test(value)) return value
  throw invalid(
    secret,
    `has something other than one line of text in its key "${key}"; put the value there alone.`,
  )
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function usernameFor(given: string | undefined, host: ReturnType<typeof hostOf>): string {
  if (given === undefined) return host?.tokenUsername ?? UNKNOWN_HOST_USERNAME
  return host?.name === 'bitbucket' && given.includes('@') ? BITBUCKET_API_TOKEN_USERNAME : given
}

function identityOf(secret: SecretData, values: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([secret.namespace, secret.name, ...values]))
    .digest('hex')
}

function nameOf(secret: SecretData): string {
  return `The Secret ${secret.namespace}/${secret.name}`
}

function invalid(secret: SecretData, complaint: string): Failure {
  return new Failure('CredentialsInvalid', `${nameOf(secret)} ${complaint}`)
}
