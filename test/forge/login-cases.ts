import { makeKey } from '../harness/ssh-keys.ts'
import { OWNER, type Logins } from './forge-stage.ts'

/** A way to log in: the Secret by its name, what the spec says of it, and the form of the address. */
export interface LoginCase {
  readonly secrets: Readonly<Record<string, StoredSecret>>
  readonly spec: Readonly<Record<string, unknown>>
  readonly form: 'https' | 'ssh'
  /** Default: Primary. */
  readonly used?: 'Fallback' | 'Default'
}

export interface StoredSecret {
  readonly type?: string
  readonly stringData: Readonly<Record<string, string>>
}

type Form = LoginCase['form']

const TOKEN_KEY = { tokenKey: 'token' }
const PASSWORD_KEYS = { usernameKey: 'username', passwordKey: 'password' }

/** Logins that Gitea accepts for the repository `lab`, by their names. */
export function goodLogins(logins: Logins, knownHosts: string): Readonly<Record<string, LoginCase>> {
  const { token, password } = logins
  const keyFile = { 'deploy-key': logins.deployKey, 'host-keys': knownHosts }
  const second = { secretName: 'second', ...TOKEN_KEY }
  return {
    token: one('https', { token }, TOKEN_KEY),
    'token-with-user': one('https', { token, username: OWNER }, { ...TOKEN_KEY, usernameKey: 'username' }),
    'token-with-any-user': one('https', { token, username: 'x' }, { ...TOKEN_KEY, usernameKey: 'username' }),
    password: one('https', { username: OWNER, password }, PASSWORD_KEYS),
    'basic-auth': {
      ...one('https', { username: OWNER, password }, {}),
      secrets: { first: { type: 'kubernetes.io/basic-auth', stringData: { username: OWNER, password } } },
    },
    key: key(logins.key, knownHosts),
    'deploy-key': one('ssh', keyFile, { privateKeyKey: 'deploy-key', knownHostsKey: 'host-keys' }),
    fallback: {
      form: 'https',
      secrets: { first: opaque({ token: 'revoked' }), second: opaque({ token }) },
      spec: { credentials: { secretName: 'first', ...TOKEN_KEY }, fallbackCredentials: second },
      used: 'Fallback',
    },
    default: { form: 'https', secrets: {}, spec: {}, used: 'Default' },
  }
}

/** A login that ends with this reason, in a repository of the owner. */
export interface RefusedCase extends LoginCase {
  readonly repository: string
  readonly reason: string
  readonly says: RegExp
}

/** What Gitea refuses, by its name; for both kinds of addresses. */
export function refusedLogins(logins: Logins, knownHosts: string): Readonly<Record<string, RefusedCase>> {
  const token = (value: string): LoginCase => one('https', { token: value }, TOKEN_KEY)
  const good = { https: token(logins.token), ssh: key(logins.key, knownHosts) }
  const otherHost = knownHosts.replace(/ssh-ed25519 .*/, makeKey('-t', 'ed25519').publicKey.trim())
  const wrongPassword = one('https', { username: OWNER, password: 'wrong' }, PASSWORD_KEYS)
  const cases: Record<string, RefusedCase> = {
    'wrong-token': refused(token('wrong'), 'lab', 'AuthenticationFailed', /token/),
    'wrong-token-public': refused(token('wrong'), 'open', 'AuthenticationFailed', /token/),
    'wrong-password': refused(wrongPassword, 'lab', 'AuthenticationFailed', /password/),
    'wrong-key': refused(
      key(logins.otherKey, knownHosts),
      'lab',
      'AuthenticationFailed',
      /does not accept the key/,
    ),
    'host-unknown': refused(key(logins.key, ''), 'lab', 'HostKeyUnknown', /ssh-keyscan/),
    'host-other': refused(key(logins.key, otherHost), 'lab', 'HostKeyMismatch', /SHA256:/),
    'read-token': refused(token(logins.readToken), 'lab', 'PermissionDenied', /./),
    'read-key': refused(
      key(logins.readKey, knownHosts),
      'lab',
      'PermissionDenied',
      /does not permit it to write/,
    ),
    'stranger-private': refused(token(logins.strangersToken), 'lab', 'RepositoryNotFound', /not visible/),
    'stranger-public': refused(token(logins.strangersToken), 'open', 'PermissionDenied', /./),
    'key-of-another': refused(key(logins.deployKey, knownHosts), 'guarded', 'PermissionDenied', /./),
  }
  // By SSH, Gitea follows the old name itself.
  cases['renamed-https'] = refused(
    good.https,
    'before',
    'RepositoryNotFound',
    /redirected to \S+\/acme\/renamed/,
  )
  for (const form of ['https', 'ssh'] as const) {
    cases[`missing-${form}`] = refused(good[form], 'nothing', 'RepositoryNotFound', /not visible/)
    cases[`protected-${form}`] = refused(good[form], 'guarded', 'PushRejected', /protected branch main/)
    cases[`archived-${form}`] = refused(good[form], 'old', 'PermissionDenied', /archived/)
  }
  return cases
}

function one(form: Form, stringData: StoredSecret['stringData'], keys: object): LoginCase {
  return {
    form,
    secrets: { first: opaque(stringData) },
    spec: { credentials: { secretName: 'first', ...keys } },
  }
}

function key(privateKey: string, knownHosts: string): LoginCase {
  const hosts: Record<string, string> = knownHosts === '' ? {} : { known_hosts: knownHosts }
  const stringData = { 'ssh-privatekey': privateKey, ...hosts }
  const secrets = { first: { type: 'kubernetes.io/ssh-auth', stringData } }
  return { form: 'ssh', secrets, spec: { credentials: { secretName: 'first' } } }
}

function opaque(stringData: StoredSecret['stringData']): StoredSecret {
  return { type: 'Opaque', stringData }
}

function refused(login: LoginCase, repository: string, reason: string, says: RegExp): RefusedCase {
  return { ...login, repository, reason, says }
}
