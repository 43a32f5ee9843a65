import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import type { SecretRight } from '../../../functions/domain/gate/access.ts'
import type { SecretRights } from '../../../functions/domain/gate/secrets.ts'
import { parse } from '../../../functions/domain/schema/parse.ts'
import {
  secretWarnings as warningsOf,
  type SecretChecks,
} from '../../../webhook/admission/secret-warnings.ts'
import type { StoredObject } from '../../harness/memory-cluster.ts'
import { memoryCluster } from '../../harness/memory-cluster.ts'
import { makeKey } from '../../harness/ssh-keys.ts'
import { gitCommit } from '../stage.ts'

const REPOSITORIES = 'commitlet.dev/allowed-repositories'
const PATHS = 'commitlet.dev/allowed-paths'
const PULL_REQUEST = {
  repository: 'https://github.com/acme/shop.git',
  baseBranch: 'main',
  headBranch: 'settings',
  title: 'New settings',
  credentials: { secretName: 'git' },
}

interface Look {
  readonly right?: SecretRight
  readonly object?: unknown
  readonly field?: 'spec.credentials' | 'spec.fallbackCredentials' | 'spec.signing'
}

/** The warnings for this resource, which has to be valid, in the namespace `shop`. */
function secretWarnings(
  object: unknown,
  secretRights: SecretRights,
  cluster: SecretChecks['cluster'],
): Promise<readonly string[]> {
  const parsed = parse(object)
  if (!parsed.sound) throw new Error(parsed.fieldErrors.map(({ message }) => message).join(' '))
  const reader: Pick<SecretChecks, 'signal' | 'inTurn'> = {
    signal: new AbortController().signal,
    inTurn: async (check) => check(),
  }
  return warningsOf(parsed, { namespace: 'shop', secretRights }, { cluster, ...reader })
}

/** Reads from a cluster that has the Secret `shop/git` with these parts, or no Secret at all. */
async function look(
  secret: object | undefined,
  { right = 'get', object, field = 'spec.credentials' }: Look = {},
) {
  const cluster = memoryCluster()
  const base = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'shop', name: 'git' } }
  if (secret !== undefined) cluster.apply({ ...base, stringData: { token: 's3cr3t-token' }, ...secret })
  return secretWarnings(object ?? gitCommit(), { [field]: right }, cluster)
}

function annotated(annotations: Readonly<Record<string, string>>): Pick<StoredObject, 'metadata'> {
  return { metadata: { namespace: 'shop', name: 'git', annotations } }
}

for (const [title, secret, warnings] of [
  ['a Secret that works', {}, []],
  [
    'a Secret that allows repository and path',
    annotated({ [REPOSITORIES]: 'git.example.com/acme', [PATHS]: 'prod' }),
    [],
  ],
  ['a Secret that is not there', undefined, [/^spec\.credentials: There is no Secret shop\/git/]],
  ['a Secret without the key', { stringData: { other: 'x' } }, [/^spec\.credentials: .*no key "token"/]],
  ['a Secret with an empty key', { stringData: { token: ' \n' } }, [/nothing in its key "token"/]],
  [
    'a Secret of another type',
    { type: 'kubernetes.io/service-account-token' },
    [/of type "kubernetes\.io\/service-account-token"/],
  ],
  [
    'a Secret for another repository',
    annotated({ [REPOSITORIES]: 'git.example.com/acme-evil' }),
    [/does not allow https:\/\/git\.example\.com/],
  ],
  ['a Secret for other paths', annotated({ [PATHS]: 'production' }), [/is not below a path/]],
  [
    'a Secret that is wrong in every way',
    { ...annotated({ [REPOSITORIES]: '', [PATHS]: '' }), stringData: {} },
    [/does not allow/, /no key "token"/, /is not below/],
  ],
] as const) {
  t.test(`${title}: ${warnings.length} warnings, one for each problem`, async (t) => {
    const found = await look(secret)
    t.equal(found.length, warnings.length)
    t.match(found, warnings)
    for (const warning of found) t.match(warning, /^spec\.credentials: [^\n]*\.$/)
    t.notMatch(found.join(''), 's3cr3t')
  })
}

t.test('the Secret of a signing key is checked like that of credentials', async (t) => {
  const object = gitCommit({}, { signing: { secretName: 'git' } })
  const field = 'spec.signing'
  t.match(await look({}, { object, field }), [/^spec\.signing: .*no key "ssh-privatekey".*spec\.signing/])
  const { privateKey } = makeKey('-t', 'ed25519', '-C', 'somebody@example.org')
  t.strictSame(await look({ stringData: { 'ssh-privatekey': privateKey } }, { object, field }), [])
  const broken = { stringData: { 'ssh-privatekey': privateKey.slice(0, 100) } }
  t.match(await look(broken, { object, field }), [/^spec\.signing: .*cut off or damaged/])
  t.match(await look(undefined, { object, field }), [/^spec\.signing: There is no Secret/])
})

t.test('a user who may only use the Secret, or was not reviewed for it, learns nothing', async (t) => {
  for (const right of ['use', undefined] as const) {
    const readSecret = () => Promise.reject(new Error('the Secret was read'))
    const secretRights = right === undefined ? {} : { 'spec.credentials': right }
    t.strictSame(await secretWarnings(gitCommit(), secretRights, { readSecret }), [])
  }
})

t.test('a Secret with too many keys is a warning', async (t) => {
  const failure = new Failure('CredentialsInvalid', 'The Secret shop/git has more than 10,000 keys.')
  const secretRights = { 'spec.credentials': 'get' } as const
  const readSecret = () => Promise.reject(failure)
  t.strictSame(await secretWarnings(gitCommit(), secretRights, { readSecret }), [
    `spec.credentials: ${failure.message}`,
  ])
})

t.test('a resource that names no Secret has no warnings', async (t) => {
  t.strictSame(await look(undefined, { object: gitCommit({}, { credentials: undefined }) }), [])
})

t.test('a new resource has no resourceVersion yet, and need not have a uid', async (t) => {
  for (const object of [gitCommit(), gitCommit({ uid: undefined })])
    t.match(await look(undefined, { object }), [/There is no Secret/])
})

const FALLBACK = { fallbackCredentials: { secretName: 'git', tokenKey: 'spare' } }

t.test('the fallback is checked with the right to its own Secret', async (t) => {
  const object = gitCommit({}, FALLBACK)
  const told = [/^spec\.fallbackCredentials: .*no key named by tokenKey/]
  t.match(await look({}, { object, field: 'spec.fallbackCredentials' }), told)
  t.strictSame(await look({}, { object, field: 'spec.credentials' }), [], 'no right to the second one')
  const secretRights = { 'spec.credentials': 'get', 'spec.fallbackCredentials': 'get' } as const
  const missing = await secretWarnings(object, secretRights, memoryCluster())
  t.match(missing, [/^spec\.credentials: There is no/, /^spec\.fallbackCredentials: There is no/])
})

const { privateKey, publicKey } = makeKey('-t', 'ed25519')
const SSH = {
  repository: 'git@git.example.com:acme/shop.git',
  credentials: { secretName: 'git', privateKeyKey: 'deploy' },
}

for (const [title, stringData, warnings] of [
  ['a key that can be read, without host keys: the operator may have them', { deploy: privateKey }, []],
  [
    'a public key',
    { deploy: publicKey },
    [/^spec\.credentials: The key named by privateKeyKey of the Secret shop\/git /],
  ],
  ['no key', { other: privateKey }, [/^spec\.credentials: .*no key named by privateKeyKey/]],
  [
    'host keys with nothing in them',
    { deploy: privateKey, known_hosts: ' ' },
    [/nothing in its key "known_hosts"/],
  ],
] as const) {
  t.test(`for an SSH address, a Secret with ${title}`, async (t) => {
    const found = await look({ stringData }, { object: gitCommit({}, SSH) })
    t.equal(found.length, warnings.length)
    t.match(found, warnings)
    t.notMatch(found.join(''), privateKey.split('\n')[1])
  })
}

t.test('the pull request of an SSH repository needs credentials for its API', async (t) => {
  const spec = {
    ...PULL_REQUEST,
    repository: 'git@github.com:acme/shop.git',
    credentials: { secretName: 'git', tokenKey: 'pat' },
  }
  const object = { ...gitCommit(), kind: 'PullRequest', spec }
  t.match(await look({}, { object }), [/no key named by tokenKey/])
})

t.test('the parts of a GitHub App are looked at, and no host is asked', async (t) => {
  const credentials = { secretName: 'git', appIDKey: 'app-id', privateKeyKey: 'private-key' }
  const app = { 'app-id': '4711', 'private-key': makeKey('-t', 'rsa', '-b', '2048').privateKey }
  const commit = gitCommit({}, { repository: 'https://github.com/acme/shop.git', credentials })
  const pull = { ...gitCommit(), kind: 'PullRequest', spec: { ...PULL_REQUEST, credentials } }
  for (const object of [commit, pull]) {
    t.same(await look({ stringData: app }, { object }), [])
    t.match(await look({ stringData: { ...app, 'private-key': 'none' } }, { object }), [
      /^spec\.credentials: The key named by privateKeyKey of the Secret shop\/git does not hold a private key/,
    ])
  }
})

t.test('a pull request is checked except for paths', async (t) => {
  const object = { ...gitCommit(), kind: 'PullRequest', spec: PULL_REQUEST }
  const secret = annotated({ [PATHS]: 'nothing/of/it', [REPOSITORIES]: 'github.com/other' })
  t.match(await look(secret, { object }), [/does not allow https:\/\/github\.com/])
})

t.test('a user name that the API of Bitbucket does not accept is reported at apply', async (t) => {
  const credentials = { secretName: 'git', usernameKey: 'username', passwordKey: 'password' }
  const spec = { ...PULL_REQUEST, repository: 'https://bitbucket.org/acme/shop', credentials }
  const object = { ...gitCommit(), kind: 'PullRequest', spec }
  const secret = { stringData: { username: 'developer', password: 's3cr3t-token' } }
  t.match(await look(secret, { object }), [/put the e-mail address/])
})

for (const [title, error, thrown] of [
  ['where the webhook may not read it, there is no warning', new Failure('ReferenceForbidden', 'no'), false],
  ['an API server that is down is an error', new Failure('NetworkError', 'down'), true],
  ['a bug is an error', new TypeError('a bug'), true],
] as const) {
  t.test(title, async (t) => {
    const readSecret = (): Promise<never> => Promise.reject(error)
    const looking = secretWarnings(gitCommit(), { 'spec.credentials': 'get' }, { readSecret })
    if (thrown) await t.rejects(looking, error)
    else t.strictSame(await looking, [])
  })
}

t.test('a token that was pasted as the name of a key is not repeated', async (t) => {
  const pasted = '16c7e42f292c6912e7710c838347ae178b4a0815'
  for (const [keys, repository] of [
    [{ tokenKey: pasted }, 'https://git.example.com/acme/shop.git'],
    [{ usernameKey: pasted, passwordKey: 'password' }, 'https://git.example.com/acme/shop.git'],
    [{ usernameKey: 'token', passwordKey: pasted }, 'https://git.example.com/acme/shop.git'],
    [{ privateKeyKey: pasted }, SSH.repository],
    [{ privateKeyKey: 'deploy', knownHostsKey: pasted }, SSH.repository],
  ] as const) {
    for (const stringData of [
      { token: 't', password: 'p', deploy: privateKey },
      { token: 't', password: 'p', deploy: privateKey, [pasted]: ' ' },
    ]) {
      const object = gitCommit({}, { repository, credentials: { secretName: 'git', ...keys } })
      const found = await look({ stringData }, { object })
      t.equal(found.length, 1)
      t.match(found[0], / key named by (token|username|password|privateKey|knownHosts)Key/)
      t.notMatch(found.join(), pasted)
    }
  }
})
