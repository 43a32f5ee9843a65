import t from 'tap'
import { parseRepositoryAddress } from '../../functions/domain/address.ts'
import type { Kind } from '../../functions/domain/resources.ts'
import { credentialFaults } from '../../functions/domain/rules-credentials.ts'

const HTTPS = parseRepositoryAddress('https://git.example.com/acme/shop')
const SSH = parseRepositoryAddress('git@git.example.com:acme/shop')

function faults(keys: readonly string[], address = HTTPS, kind: Kind = 'GitCommit'): string[] {
  const credentials = Object.fromEntries([['secretName', 'git'], ...keys.map((key) => [key, 'x'])])
  return credentialFaults({ kind, spec: { credentials }, address }).map(
    ({ reason, field }) => `${reason} ${field}`,
  )
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
  [['tokenKey', 'privateKeyKey'], ['NotSupported spec.credentials.privateKeyKey']],
  [['tokenKey', 'knownHostsKey'], ['NotSupported spec.credentials.knownHostsKey']],
  [['appIDKey', 'installationIDKey', 'privateKeyKey'], ['NotSupported spec.credentials.appIDKey']],
  [['installationIDKey', 'tokenKey'], ['NotSupported spec.credentials.installationIDKey']],
]

t.test('for an https address, contradictions and what is not there yet are told by name', async (t) => {
  for (const [keys, expected] of TABLE) t.same(faults(keys), expected, keys.join())
})

t.test('for an SSH address, keys that it cannot use are a contradiction', async (t) => {
  t.same(faults(['tokenKey'], SSH), ['InvalidSpec spec.credentials.tokenKey'])
  t.same(faults(['usernameKey', 'passwordKey'], SSH), ['InvalidSpec spec.credentials.passwordKey'])
  t.same(faults(['usernameKey'], SSH), ['InvalidSpec spec.credentials.usernameKey'])
  t.same(faults(['privateKeyKey', 'usernameKey'], SSH), ['NotSupported spec.credentials.privateKeyKey'])
  t.same(faults([], SSH), [])
  t.same(faults(['tokenKey'], SSH, 'PullRequest'), [], 'the API needs the token')
})

t.test('credentials that are absent, and a second way to log in, are not there yet', async (t) => {
  function judged(spec: unknown): string[] {
    return credentialFaults({ kind: 'GitCommit', spec, address: undefined }).map(({ message }) => message)
  }
  t.same(judged({}), [
    "spec.credentials is missing, and the operator's default credentials are not supported yet; name a Secret there.",
  ])
  const credentials = { secretName: 'git' }
  t.same(judged({ credentials, fallbackCredentials: { secretName: 'other' } }), [
    'spec.fallbackCredentials asks for a second way to log in, which is not supported yet; leave it out.',
  ])
  t.same(judged({ fallbackCredentials: { secretName: 'other', tokenKey: 't', passwordKey: 'p' } }), [
    "spec.credentials is missing, and the operator's default credentials are not supported yet; name a Secret there.",
    'spec.fallbackCredentials is used only together with spec.credentials; name a Secret there too.',
    'spec.fallbackCredentials asks for a second way to log in, which is not supported yet; leave it out.',
    'spec.fallbackCredentials.passwordKey stands beside tokenKey; name only one of them.',
  ])
})
