import { createHash } from 'node:crypto'
import type { RepositoryAddress } from './address.ts'
import { allows, allowsPath } from './allowed-repositories.ts'
import type { Login } from './change.ts'
import { controlComponent } from './committed-path.ts'
import { Failure } from './failure.ts'
import { hostOf } from './hosts.ts'
import { ALLOWED_PATHS, ALLOWED_REPOSITORIES } from './resources.ts'
import type { Credentials, RemoteSpec } from './resources.ts'

/** A Secret as it was read. */
export interface SecretData {
  readonly namespace: string
  readonly name: string
  readonly type: string
  readonly annotations: Readonly<Record<string, string>>
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
 * What Git needs to log in over HTTPS at this repository with this Secret. Throws ReferenceForbidden where the
 * Secret's `commitlet.dev/allowed-repositories` does not cover the repository, before any value is looked at;
 * CredentialsInvalid where the type is not one of ours, or a key is missing, empty, not text or above 8 KiB.
 * No sentence holds a value.
 */
export function loginFor(
  spec: Pick<RemoteSpec, 'credentials' | 'provider'>,
  secret: SecretData,
  address: RepositoryAddress,
): Login {
  const list = secret.annotations[ALLOWED_REPOSITORIES]
  if (list !== undefined && !allows(list, address)) {
    throw new Failure(
      'ReferenceForbidden',
      `${nameOf(secret)} does not allow ${address.text}; add it to the annotation ${ALLOWED_REPOSITORIES} of the Secret.`,
    )
  }
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
  return { username, password, identity: identityOf(secret, [username, password]), secrets }
}

// A host may repeat whatever it was once given: what else lies in the Secret is not to be shown either.
function otherValues(secret: SecretData): readonly string[] {
  const small = [...secret.data.values()].filter(({ length }) => length <= VALUE_BYTES)
  return small
    .flatMap((bytes) => decode(bytes)?.trim() ?? [])
    .filter(({ length }) => length >= SHORTEST_MASKED)
}

/**
 * Throws ReferenceForbidden where the path is not one that may be written with this Secret: its annotation
 * `commitlet.dev/allowed-paths` does not cover it, or there is none and the path is that of a file that steers Git
 * or the host.
 */
export function requirePathAllowed(path: string, secret: SecretData): void {
  const list = secret.annotations[ALLOWED_PATHS]
  if (list !== undefined && allowsPath(list, path)) return
  const control = controlComponent(path)
  if (list === undefined && control === undefined) return
  const found =
    control === undefined
      ? 'spec.resourceRef.path does not lie under a path that this Secret may write'
      : `spec.resourceRef.path has the part "${control}", which steers Git or the host`
  throw new Failure(
    'ReferenceForbidden',
    `${found}; choose another path, or add it to the annotation ${ALLOWED_PATHS} of the Secret ${secret.namespace}/${secret.name}.`,
  )
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
