import { lacks, NO_SECRET, OTHER_HOST_KEY, SUCCEEDED } from './matrix-endings.ts'
import type { Ending, MatrixCase, MatrixSecret } from './matrix-endings.ts'
import type { ValueName } from './matrix-values.ts'

const NOT_LET_IN = {
  reason: 'AuthenticationFailed',
  says: 'URL does not accept the key KEY (ssh-ed25519) for the user USER; add its public key to the account, or to the repository as a deploy key with write access, or put another key into the Secret.',
} as const
const KEY = { credentials: 'private key', address: 'ssh', keys: {} } as const

function unreadable(complaint: string): Ending {
  return { reason: 'CredentialsInvalid', says: `The key "ssh-privatekey" of the Secret SECRET ${complaint}.` }
}

/** A Secret with a private key and the keys of the host. */
export function key(value: ValueName, hosts: ValueName = 'known hosts'): MatrixSecret {
  return { type: 'kubernetes.io/ssh-auth', keys: { 'ssh-privatekey': value, known_hosts: hosts } }
}

/** Private keys, at the kind of address that they are for and at the other. */
export const SSH_CASES: readonly MatrixCase[] = [
  { ...KEY, state: 'right', secret: key('key'), used: 'Primary', ...SUCCEEDED },
  {
    ...KEY,
    state: 'right, in an Opaque Secret',
    secret: { ...key('key'), type: 'Opaque' },
    used: 'Primary',
    ...SUCCEEDED,
  },
  { ...KEY, state: 'wrong', secret: key('other key'), ...NOT_LET_IN },
  { ...KEY, state: 'expired or revoked', secret: key('revoked key'), ...NOT_LET_IN },
  { ...KEY, state: 'the Secret is missing', ...NO_SECRET },
  {
    ...KEY,
    keys: { privateKeyKey: 'deploy-key' },
    state: 'its key is missing',
    secret: key('key'),
    ...lacks('named by privateKeyKey'),
  },
  {
    ...KEY,
    state: 'with a passphrase',
    secret: key('locked key'),
    ...unreadable(
      'holds a private key with a passphrase, which Commitlet cannot ask for; store it without one (`ssh-keygen -p -N "" -f FILE`)',
    ),
  },
  {
    ...KEY,
    state: 'cut off',
    secret: key('half a key'),
    ...unreadable('holds a private key that is cut off or damaged; copy the whole file into it again'),
  },
  {
    ...KEY,
    state: 'the public half',
    secret: key('public key'),
    ...unreadable('holds a public key, but has to hold the private one (the file without .pub)'),
  },
  {
    ...KEY,
    state: 'may only read',
    secret: key('key for reading'),
    reason: 'PermissionDenied',
    says: 'URL knows the key but does not permit it to write; give the user or the deploy key write access.',
  },
  {
    ...KEY,
    state: 'no access',
    absent: true,
    secret: key('key'),
    reason: 'RepositoryNotFound',
    says: 'URL does not exist, or is not visible with this key (hosts give the same answer for both); check the address and the rights of the key.',
  },
  {
    ...KEY,
    state: 'the host is not known',
    secret: key('key', 'known hosts of others'),
    reason: 'HostKeyUnknown',
    says: 'No known_hosts entry says which host key HOST has; run `ssh-keyscan -p PORT HOSTNAME`, compare the fingerprint with what the host publishes, and put the line into the Secret (spec.credentials.knownHostsKey) or ask your Commitlet operator to add it to the file of SSH_KNOWN_HOSTS.',
  },
  {
    ...KEY,
    state: 'the host has another key',
    secret: key('key', 'known hosts of yesterday'),
    ...OTHER_HOST_KEY,
  },
  {
    ...KEY,
    address: 'https',
    keys: { privateKeyKey: 'ssh-privatekey' },
    state: 'not used there',
    secret: key('key'),
    reason: 'refused',
    says: 'spec.credentials.privateKeyKey is not used for HTTPS; name tokenKey, or usernameKey and passwordKey.',
  },
]
