import { Failure } from '../failure.ts'
import type { Credentials } from '../spec/spec.ts'
import type { BoundSecret } from './secret-binding.ts'

/** A Secret as it was read. */
export interface SecretData extends BoundSecret {
  readonly type: string
  /** Decoded values by key. */
  readonly data: ReadonlyMap<string, Uint8Array>
}

/** Keys of a Secret that hold a token, or user name and password. */
export interface PasswordKeys {
  readonly usernameKey: string | undefined
  /** Of a token or a password. */
  readonly secretKey: string
}

/** Keys of a Secret that hold a private key, and the lines of known_hosts for it. */
export interface SSHKeys {
  readonly privateKeyKey: string
  readonly knownHostsKey: string | undefined
}

/** Maximum number of characters of a type, which may be any text, in a message. */
const TYPE_SHOWN = 100
const TYPES = ['Opaque', 'kubernetes.io/basic-auth', 'kubernetes.io/ssh-auth']
const BASIC = { usernameKey: 'username', secretKey: 'password' } as const
/** Keys of the Secrets of Kubernetes (https://kubernetes.io/docs/concepts/configuration/secret/#secret-types). */
const SSH_PRIVATE_KEY = 'ssh-privatekey'
const KNOWN_HOSTS = 'known_hosts'
const TOKEN = 'token'
const USUAL_KEYS: readonly string[] = [
  TOKEN,
  BASIC.usernameKey,
  BASIC.secretKey,
  SSH_PRIVATE_KEY,
  KNOWN_HOSTS,
]

/**
 * Which keys are used for an https address or (`neededBy`) for an API: those that the credentials name, else by the
 * type of the Secret and the usual names. Throws CredentialsInvalid if there are none.
 */
export function passwordKeys(
  credentials: Credentials,
  secret: SecretData,
  neededBy: 'an https address' | 'the API of a provider' = 'an https address',
): PasswordKeys {
  const { tokenKey, usernameKey, passwordKey } = credentials
  if (tokenKey !== undefined) return { usernameKey, secretKey: tokenKey }
  if (usernameKey !== undefined || passwordKey !== undefined) {
    return { usernameKey: usernameKey ?? BASIC.usernameKey, secretKey: passwordKey ?? BASIC.secretKey }
  }
  if (secret.type === 'kubernetes.io/basic-auth') return BASIC
  if (secret.data.has(TOKEN)) return { usernameKey: undefined, secretKey: TOKEN }
  if (secret.data.has(BASIC.usernameKey) && secret.data.has(BASIC.secretKey)) return BASIC
  throw invalidSecret(
    secret,
    `holds neither "token" nor "username" and "password", which ${neededBy} needs; add them, or name other ` +
      'keys in spec.credentials.',
  )
}

/** Which keys are used over SSH: those that are named, else the usual ones. Throws CredentialsInvalid if there is no private key. */
export function sshKeys(credentials: Credentials, secret: SecretData): SSHKeys {
  const named = credentials.privateKeyKey
  const isUsual = secret.type === 'kubernetes.io/ssh-auth' || secret.data.has(SSH_PRIVATE_KEY)
  const privateKeyKey = named ?? (isUsual ? SSH_PRIVATE_KEY : undefined)
  if (privateKeyKey === undefined) {
    throw invalidSecret(
      secret,
      `has no key "${SSH_PRIVATE_KEY}", which an SSH address needs; add it, or name another with privateKeyKey in spec.credentials.`,
    )
  }
  const usualHosts = secret.data.has(KNOWN_HOSTS) ? KNOWN_HOSTS : undefined
  return { privateKeyKey, knownHostsKey: credentials.knownHostsKey ?? usualHosts }
}

/** Throws CredentialsInvalid if the type of the Secret is not one for Git credentials. */
export function requireType(secret: SecretData): void {
  if (TYPES.includes(secret.type)) return
  throw invalidSecret(
    secret,
    `is of type "${secret.type.slice(0, TYPE_SHOWN)}", but has to be of type ${TYPES.join(', ')}; use another Secret.`,
  )
}

/** The field of the credentials that names a key of the Secret. */
export type KeyField = Exclude<keyof Credentials, 'secretName'>

/**
 * How messages show a key of the Secret: a usual name as it is, any other as the field that names it, because a secret
 * may have been pasted there.
 */
export function shownKey(key: string, field: KeyField): string {
  return USUAL_KEYS.includes(key) ? `"${key}"` : `named by ${field}`
}

/** A CredentialsInvalid whose complaint follows the Secret's name. */
export function invalidSecret(secret: BoundSecret, complaint: string): Failure {
  return new Failure('CredentialsInvalid', `The Secret ${secret.namespace}/${secret.name} ${complaint}`)
}
