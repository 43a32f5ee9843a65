import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import type { RepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { targetOf } from '../../../functions/domain/repository/target.ts'
import type { Credentials, Kind } from '../../../functions/domain/resource/resource.ts'
import type { FieldError } from '../../../functions/domain/field-error.ts'
import { credentialErrors } from '../../../functions/domain/gate/credentials-rules.ts'

const HTTPS = parseRepositoryAddress('https://git.example.com/acme/shop')
const SSH = parseRepositoryAddress('git@git.example.com:acme/shop')

interface Spec {
  readonly credentials?: Credentials
  readonly fallbackCredentials?: Credentials
}

function errorsOf(kind: Kind, spec: Spec, address: RepositoryAddress | undefined): readonly FieldError[] {
  const target = address === undefined ? undefined : targetOf(kind, address)
  return credentialErrors({ kind, spec, target })
}

function fieldErrors(keys: readonly string[], address = HTTPS, kind: Kind = 'GitCommit'): string[] {
  const credentials = { secretName: 'git', ...Object.fromEntries(keys.map((key) => [key, 'x'])) }
  return errorsOf(kind, { credentials }, address).map(({ reason, field }) => `${reason} ${field}`)
}

const TABLE: [string[], string[]][] = [
  [[], []],
  [['tokenKey'], []],
  [['tokenKey', 'usernameKey'], []],
  [['usernameKey', 'passwordKey'], []],
  [['tokenKey', 'passwordKey'], ['InvalidSpec spec.credentials.passwordKey']],
  [['tokenKey', 'usernameKey', 'passwordKey'], ['InvalidSpec spec.credentials.passwordKey']],
  [['usernameKey'], ['InvalidSpec spec.credentials.usernameKey']],
  [['passwordKey'], ['InvalidSpec spec.credentials.passwordKey']],
  [['privateKeyKey'], ['InvalidSpec spec.credentials.privateKeyKey']],
  [['knownHostsKey'], ['InvalidSpec spec.credentials.knownHostsKey']],
  [['privateKeyKey', 'knownHostsKey'], ['InvalidSpec spec.credentials.privateKeyKey']],
  [['tokenKey', 'privateKeyKey'], []],
  [['tokenKey', 'knownHostsKey'], []],
  [['privateKeyKey', 'usernameKey'], ['InvalidSpec spec.credentials.usernameKey']],
  [['appIDKey', 'installationIDKey', 'privateKeyKey'], ['NotSupported spec.credentials.appIDKey']],
  [['installationIDKey', 'tokenKey'], ['NotSupported spec.credentials.installationIDKey']],
]

t.test('for an https address, contradictions and unsupported keys are reported by name', async (t) => {
  for (const [keys, expected] of TABLE) t.same(fieldErrors(keys), expected, keys.join())
})

t.test('for an SSH address, keys that it cannot use are a contradiction', async (t) => {
  t.same(fieldErrors(['tokenKey'], SSH), ['InvalidSpec spec.credentials.tokenKey'])
  t.same(fieldErrors(['usernameKey', 'passwordKey'], SSH), ['InvalidSpec spec.credentials.passwordKey'])
  t.same(fieldErrors(['usernameKey'], SSH), ['InvalidSpec spec.credentials.usernameKey'])
  t.same(fieldErrors(['privateKeyKey', 'usernameKey'], SSH), [])
  t.same(fieldErrors(['privateKeyKey', 'knownHostsKey'], SSH), [])
  t.same(fieldErrors(['knownHostsKey'], SSH), [], 'the type of the Secret may name the key')
  t.same(fieldErrors([], SSH), [])
  t.same(fieldErrors(['tokenKey'], SSH, 'PullRequest'), [], 'the API needs the token')
  t.same(fieldErrors(['privateKeyKey'], SSH, 'PullRequest'), ['InvalidSpec spec.credentials.privateKeyKey'])
})

t.test('a key alone is told what it is not used for', async (t) => {
  const words = 'name tokenKey, or usernameKey and passwordKey.'
  const api = `is not used for an API, which takes a token; ${words}`
  for (const [kind, address, complaint] of [
    ['GitCommit', HTTPS, `is not used for HTTPS; ${words}`],
    ['PullRequest', HTTPS, api],
    ['PullRequest', SSH, api],
    ['PullRequest', undefined, api],
  ] as const) {
    const spec = { credentials: { secretName: 'git', privateKeyKey: 'x' } }
    t.match(errorsOf(kind, spec, address), [{ message: `spec.credentials.privateKeyKey ${complaint}` }])
  }
})

t.test('without credentials it is the default, which no SSH address can use', async (t) => {
  function judged(kind: Kind, address: typeof HTTPS | undefined): string[] {
    return errorsOf(kind, {}, address).map(({ message }) => message)
  }
  t.same(judged('GitCommit', HTTPS), [])
  t.same(judged('PullRequest', SSH), [], 'its API takes the token')
  t.same(judged('GitCommit', undefined), [])
  t.same(judged('GitCommit', SSH), [
    "spec.credentials is missing, but an SSH address needs a private key, which the operator's default credentials do not have; name a Secret there.",
  ])
})

t.test('fallback credentials are judged like the first, and are not allowed alone', async (t) => {
  function judged(spec: Spec): string[] {
    return errorsOf('GitCommit', spec, HTTPS).map(({ message }) => message)
  }
  const credentials = { secretName: 'git' }
  t.same(judged({ credentials, fallbackCredentials: { secretName: 'other' } }), [])
  t.same(judged({ fallbackCredentials: { secretName: 'other', tokenKey: 't', passwordKey: 'p' } }), [
    'spec.fallbackCredentials is used only together with spec.credentials; name a Secret there too.',
    'spec.fallbackCredentials.passwordKey is set together with tokenKey; set only one of them.',
  ])
  t.same(judged({ credentials, fallbackCredentials: { secretName: 'other', privateKeyKey: 'k' } }), [
    'spec.fallbackCredentials.privateKeyKey is not used for HTTPS; name tokenKey, or usernameKey and passwordKey.',
  ])
})
