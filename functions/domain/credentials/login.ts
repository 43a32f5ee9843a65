import { digestOf } from './digest.ts'
import { Failure } from '../failure.ts'
import type { Target } from '../repository/target.ts'

/** What Git needs to log in at a remote. */
export type Login = PasswordLogin | KeyLogin

/** What is known of a token that a host has issued to an App. */
export interface Issued {
  /** Equal for all logins whose requests the host counts together; safe to keep in memory as a key, never logged. */
  readonly counted: string
  /** Forgets the token, so that the next log-in asks for another one. */
  readonly forget: () => void
}

interface AnyLogin {
  /** Equal for the same credential, different otherwise; safe to keep in memory as a key, never logged. */
  readonly identity: string
  /** Every value of the Secret, also those that the login does not use, to be masked in text from the remote. */
  readonly secrets: readonly string[]
  /** Undefined: the login is no issued token. */
  readonly issued?: Issued
  /** It is the operator's, which several namespaces may use. */
  readonly ofOperator?: true
}

/** Over HTTPS, where a token is used as a password. */
export interface PasswordLogin extends AnyLogin {
  readonly method: 'password'
  readonly username: string
  readonly password: string
}

/** Over SSH. */
export interface KeyLogin extends AnyLogin {
  readonly method: 'key'
  /** Of the Secret: it shares no connection with another namespace. */
  readonly namespace: string
  /** Text of the private key, not encrypted, in a form that ssh2 reads. */
  readonly privateKey: string
  /** Lines of known_hosts that apply to the remote's host and port. */
  readonly hostKeys: string
}

/** What the API of a provider needs to log in. */
export interface ApiLogin extends AnyLogin {
  /** As given, such as an e-mail address; undefined: the token is used alone. */
  readonly username: string | undefined
  readonly secret: string
}

/** The login for each kind of call. */
export interface LoginOf {
  readonly git: Login
  readonly api: ApiLogin
}

/** Of a private key and the lines of it, of a few values, and of a handful of host keys. */
const USUAL_BYTES = 16 * 1024
/** What a value takes besides its text. */
const VALUE_BYTES = 32

/** What a login takes in memory beyond usual ones, in bytes: a Secret may have a thousand values and lines. */
export function bytesBeyondUsual(login: Login): number {
  const keys = login.method === 'key' ? login.privateKey.length + login.hostKeys.length : 0
  const bytes = login.secrets.reduce((sum, { length }) => sum + length + VALUE_BYTES, keys)
  return Math.max(0, bytes - USUAL_BYTES)
}

/** Every secret that a login may send: the Secret's values, the pair of Basic authentication, the lines of a key. */
export function secretsOf(login: Login): readonly string[] {
  if (login.method === 'key') return [...login.secrets, ...linesOf(login.privateKey)]
  return [...login.secrets, login.password, `${login.username}:${login.password}`]
}

/** What a request to an API holds of a login, before it is encoded. */
export function sentWith({ username, secret }: Pick<ApiLogin, 'username' | 'secret'>): readonly string[] {
  return username === undefined ? [secret] : [secret, `${username}:${secret}`]
}

/** Value of a header for Basic authentication (RFC 7617), in UTF-8. */
export function basicAuthorization(pair: { readonly username: string; readonly password: string }): string {
  return `Basic ${Buffer.from(`${pair.username}:${pair.password}`).toString('base64')}`
}

export function linesOf(privateKey: string): readonly string[] {
  return privateKey.split('\n').filter((line) => line !== '' && !line.startsWith('-----'))
}

/** Equal for equal values of the same source, different otherwise; it does not reveal the values. */
export function identityOf(source: readonly string[], values: readonly string[]): string {
  return digestOf(...source, ...values)
}

/**
 * Adds the hint of a public host to an AuthenticationFailed that may come from a kind of password that the host no
 * longer accepts. Returns every other error unchanged.
 */
export function withPasswordHint(error: unknown, login: Login, { host, publicAPI }: Target): unknown {
  if (!(error instanceof Failure) || error.reason !== 'AuthenticationFailed') return error
  const hint = publicAPI === undefined ? undefined : host?.passwordHint
  if (hint === undefined || login.method !== 'password') return error
  if ([host?.tokenUsername, host?.emailUsername].includes(login.username)) return error
  return new Failure(error.reason, `${error.message.replace(/\.$/, '')}; ${hint}`, {
    cause: error.cause,
    retry: error.retry,
    ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
  })
}
