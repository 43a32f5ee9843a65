import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import type { RepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { targetOf } from '../../../functions/domain/repository/target.ts'
import type { HostHints } from '../../../functions/domain/repository/target.ts'
import type { Credentials } from '../../../functions/domain/spec/spec.ts'
import type { Kind } from '../../../functions/domain/resource/api-names.ts'
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
  [['installationIDKey', 'tokenKey'], ['InvalidSpec spec.credentials.installationIDKey']],
  [['installationIDKey', 'privateKeyKey'], ['InvalidSpec spec.credentials.installationIDKey']],
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

t.test('a GitHub App has an ID and a private key, and logs in over HTTPS to GitHub', async (t) => {
  const app = ['appIDKey', 'privateKeyKey']
  const GITHUB = parseRepositoryAddress('https://github.com/acme/shop')
  const TENANT = parseRepositoryAddress('https://acme.ghe.com/acme/shop')
  for (const address of [GITHUB, TENANT]) {
    t.same(fieldErrors(app, address), [])
    t.same(fieldErrors([...app, 'installationIDKey'], address), [])
    t.same(fieldErrors(app, address, 'PullRequest'), [])
  }
  t.same(fieldErrors(['appIDKey'], GITHUB), ['InvalidSpec spec.credentials.privateKeyKey'])
  t.same(fieldErrors([...app, 'tokenKey'], GITHUB), ['InvalidSpec spec.credentials.tokenKey'])
  t.same(fieldErrors([...app, 'usernameKey', 'passwordKey'], GITHUB), [
    'InvalidSpec spec.credentials.passwordKey',
  ])
  t.same(fieldErrors(app, parseRepositoryAddress('git@github.com:acme/shop')), [
    'InvalidSpec spec.credentials.appIDKey',
  ])
  t.same(fieldErrors(app, parseRepositoryAddress('git@github.com:acme/shop'), 'PullRequest'), [])
  t.same(fieldErrors(app, parseRepositoryAddress('https://gitlab.com/acme/shop')), [
    'InvalidSpec spec.credentials.appIDKey',
  ])
})

t.test('a GitHub App at another host has to know the API of an Enterprise Server', async (t) => {
  const credentials = { secretName: 'git', appIDKey: 'x', privateKeyKey: 'y' }
  const complaintOf = (hints: HostHints): (string | undefined)[] => {
    const target = targetOf('GitCommit', HTTPS, hints)
    return credentialErrors({ kind: 'GitCommit', spec: { credentials }, target }).map(
      ({ message }) => message,
    )
  }
  const needs =
    /^spec\.credentials\.appIDKey needs the API of a GitHub Enterprise Server; write provider: github and providerConfig\.baseURL/
  t.match(complaintOf({}), [needs])
  t.match(complaintOf({ provider: 'github' }), [needs])
  t.match(complaintOf({ provider: 'gitea' }), [/is for GitHub alone, but the host is of the provider gitea/])
  t.same(complaintOf({ provider: 'github', baseURL: 'https://git.example.com/api/v3' }), [])
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
