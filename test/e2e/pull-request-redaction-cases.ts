import { BITBUCKET } from '../harness/hosts/bitbucket.ts'
import { github } from '../harness/hosts/github.ts'
import { GITLAB } from '../harness/hosts/gitlab.ts'
import type { HostFault } from '../harness/hosts/host-handler.ts'
import { WRONGS } from '../providers/redaction/faults.ts'
import { PASSWORD, TOKEN, WRONG } from './distinctive-secrets.ts'
import type { Site } from './pull-request-stage.ts'

/** One resource, and how it may end. */
export interface RedactionCase {
  readonly name: string
  readonly reasons: readonly string[]
  /** Of the Secret; default: the token's. */
  readonly key?: 'token' | 'wrong' | 'password' | 'hurried' | 'foreign'
  readonly fault?: HostFault
  /** What the fault strikes; default: GET. */
  readonly method?: string
}

/** A token for the right repository, an expired one, and one that no header can carry as it is. */
export const SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'mine' },
  stringData: {
    token: `${TOKEN}\n`,
    wrong: WRONG,
    hurried: `${WRONG}-2`,
    foreign: `${WRONG}\u2713`,
    username: 'dev',
    mail: 'dev@example.com',
    password: PASSWORD,
  },
}

/** Each host, and how its users name the keys of the Secret. */
export const SITES: readonly (Omit<Site, 'path'> & { keys(secret: string): object })[] = [
  { dialect: github, keys: keysWith('username') },
  { dialect: GITLAB, keys: keysWith('username') },
  {
    dialect: BITBUCKET,
    publicly: { origin: 'https://bitbucket.org', apiPath: '/2.0' },
    keys: keysWith('mail'),
  },
]

/** Successes and failures that involve a secret, at a host that repeats whatever it gets. */
export const CASES: readonly RedactionCase[] = [
  { name: 'token', reasons: ['Succeeded'] },
  { name: 'password', reasons: ['Succeeded'], key: 'password' },
  { name: 'wrong', reasons: ['AuthenticationFailed'], key: 'wrong' },
  { name: 'foreign', reasons: ['CredentialsInvalid', 'AuthenticationFailed'], key: 'foreign' },
  // A list without any, as Bitbucket reads it.
  echo('200', ['ProviderUnavailable', 'Succeeded']),
  echo('301', ['RepositoryNotFound']),
  echo('401', ['AuthenticationFailed']),
  echo('403', ['PermissionDenied']),
  // GitHub's headers then name the scope that is missing.
  echo('404', ['RepositoryNotFound', 'PermissionDenied']),
  echo('422', ['PullRequestRejected']),
  // A separate one, because no other call uses it.
  { ...echo('429', ['RateLimited']), key: 'hurried' },
  echo('500', ['ProviderUnavailable']),
  { ...echo('422', ['PullRequestRejected']), name: 'creation-422', method: 'POST' },
  { ...echo('403', ['PermissionDenied']), name: 'creation-403', method: 'POST' },
  { name: 'page', reasons: ['ProviderUnavailable'], fault: faultOf('a page with an echo') },
  { name: 'cut-json', reasons: ['ProviderUnavailable'], fault: faultOf('cut JSON with an echo') },
  { name: 'lost', reasons: ['NetworkError'], fault: { kind: 'lost answer' }, method: 'POST' },
]

function echo(status: string, reasons: readonly string[]): RedactionCase {
  return { name: `echo-${status}`, reasons, fault: faultOf(`${status} with an echo`) }
}

function faultOf(name: string): HostFault {
  const found = WRONGS.find((wrong) => wrong.name === name)
  if (found === undefined) throw new Error(`There is no fault "${name}".`)
  return found.fault
}

function keysWith(usernameKey: string): (secret: string) => object {
  return (secret) => (secret === 'password' ? { usernameKey, passwordKey: 'password' } : { tokenKey: secret })
}
