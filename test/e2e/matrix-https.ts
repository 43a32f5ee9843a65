import { lacks, NO_SECRET, READ_ONLY, SUCCEEDED, UNAUTHORISED } from './matrix-endings.ts'
import type { MatrixCase, MatrixSecret } from './matrix-endings.ts'
import type { ValueName } from './matrix-values.ts'

const INVISIBLE = {
  reason: 'RepositoryNotFound',
  says: 'URL does not exist, or is not visible with these credentials (hosts give the same answer for both); check the address and the rights of the token.',
} as const
const TOKEN = { credentials: 'token', address: 'https', keys: { tokenKey: 'token' } } as const
const NAMED = {
  credentials: 'token with a user name',
  address: 'https',
  keys: { tokenKey: 'token', usernameKey: 'username' },
} as const
const BASIC = { credentials: 'user name and password', address: 'https', keys: {} } as const

/** A Secret with a token. */
export function token(value: ValueName): MatrixSecret {
  return { keys: { token: value } }
}

function named(username: ValueName, value: ValueName): MatrixSecret {
  return { keys: { username, token: value } }
}

function basic(username: ValueName, password: ValueName): MatrixSecret {
  return { type: 'kubernetes.io/basic-auth', keys: { username, password } }
}

/** Tokens and passwords, at the kind of address that they are for and at the other. */
export const HTTPS_CASES: readonly MatrixCase[] = [
  { ...TOKEN, state: 'right', secret: token('token'), used: 'Primary', ...SUCCEEDED },
  { ...TOKEN, state: 'wrong', secret: token('wrong token'), ...UNAUTHORISED },
  { ...TOKEN, state: 'expired or revoked', secret: token('revoked token'), ...UNAUTHORISED },
  { ...TOKEN, state: 'the Secret is missing', ...NO_SECRET },
  { ...TOKEN, state: 'its key is missing', secret: { keys: { other: 'token' } }, ...lacks('"token"') },
  {
    ...TOKEN,
    state: 'empty',
    secret: token('nothing'),
    reason: 'CredentialsInvalid',
    says: 'The Secret SECRET has nothing in its key "token"; put the value there.',
  },
  { ...TOKEN, state: 'may only read', secret: token('token for reading'), ...READ_ONLY },
  { ...TOKEN, state: 'no access', secret: token('token without access'), ...INVISIBLE },
  {
    ...TOKEN,
    address: 'ssh',
    state: 'not used there',
    secret: token('token'),
    reason: 'refused',
    says: 'spec.credentials.tokenKey is not used for an SSH address; name privateKeyKey, or write the https address of the repository.',
  },
  { ...NAMED, state: 'right', secret: named('user name', 'password'), used: 'Primary', ...SUCCEEDED },
  { ...NAMED, state: 'wrong user name', secret: named('other user name', 'password'), ...UNAUTHORISED },
  { ...NAMED, state: 'the key of the user name is missing', secret: token('token'), ...lacks('"username"') },
  { ...BASIC, state: 'right', secret: basic('user name', 'password'), used: 'Primary', ...SUCCEEDED },
  { ...BASIC, state: 'wrong', secret: basic('user name', 'wrong token'), ...UNAUTHORISED },
  {
    ...BASIC,
    state: 'expired or revoked',
    secret: basic('user name', 'revoked token'),
    ...UNAUTHORISED,
  },
  { ...BASIC, state: 'may only read', secret: basic('user name', 'token for reading'), ...READ_ONLY },
  { ...BASIC, state: 'no access', secret: basic('user name', 'token without access'), ...INVISIBLE },
  {
    ...BASIC,
    state: 'the password is missing',
    secret: { keys: { username: 'user name' } },
    reason: 'CredentialsInvalid',
    says: 'The Secret SECRET holds neither "token" nor "username" and "password", which an https address needs; add them, or name other keys in spec.credentials.',
  },
  {
    ...BASIC,
    address: 'ssh',
    state: 'not used there',
    secret: basic('user name', 'password'),
    reason: 'CredentialsInvalid',
    says: 'The Secret SECRET has no key "ssh-privatekey", which an SSH address needs; add it, or name another with privateKeyKey in spec.credentials.',
  },
]
