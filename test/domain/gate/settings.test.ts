import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { readGateSettings, UNSIGNED } from '../../../functions/domain/gate/settings.ts'
import { WrongSetting } from '../../../functions/domain/settings.ts'

const folder = t.testdir()
const key = Buffer.from(Array.from({ length: 32 }, (_, index) => (index * 37) % 256))
writeFileSync(`${folder}/key`, key)
writeFileSync(`${folder}/short`, key.subarray(1))
mkdirSync(`${folder}/folder`)

t.test('without settings the least is allowed, and nothing is signed', async (t) => {
  const defaults = {
    referenceScope: 'namespace',
    allowedRepositories: undefined,
    insecureHosts: [],
    delegation: { appliers: [], account: 'commitlet' },
    stampKey: undefined,
  }
  t.strictSame(readGateSettings({}, readFileSync), defaults)
  const empty = {
    REFERENCE_SCOPE: '',
    ALLOWED_REPOSITORIES: '',
    DELEGATED_APPLIERS: '',
    DELEGATE_SERVICE_ACCOUNT: '',
    STAMP_KEY_FILE: '',
  }
  t.strictSame(readGateSettings(empty, readFileSync), defaults)
  t.match(UNSIGNED, /^STAMP_KEY_FILE is not set: /)
})

t.test('the settings of the operator are used, and the key is the bytes of the file', async (t) => {
  const env = {
    REFERENCE_SCOPE: 'any',
    ALLOWED_REPOSITORIES: 'github.com/acme, git.example.com:8443/',
    DELEGATED_APPLIERS: 'system:serviceaccount:flux-system:kustomize-controller, ,argocd',
    DELEGATE_SERVICE_ACCOUNT: 'team.deployer-1',
    INSECURE_HOSTS: 'git.example.com:8080',
    STAMP_KEY_FILE: `${folder}/key`,
  }
  const { stampKey, ...settings } = readGateSettings(env, readFileSync)
  t.strictSame(settings, {
    referenceScope: 'any',
    allowedRepositories: 'github.com/acme, git.example.com:8443/',
    insecureHosts: [{ host: 'git.example.com', port: 8080 }],
    delegation: {
      appliers: ['system:serviceaccount:flux-system:kustomize-controller', 'argocd'],
      account: 'team.deployer-1',
    },
  })
  t.strictSame(stampKey?.export(), key)
})

const ENTRY = 'but each has to be [user@]host[:port][/path], such as git.example.com/acme.'
const ACCOUNT = 'but has to be the name of a service account alone, such as commitlet.'
const KEY = 'but has to be the path of a readable file of 32 bytes or more.'

for (const [name, value, complaint] of [
  ['REFERENCE_SCOPE', 'all', 'REFERENCE_SCOPE is "all", but has to be one of namespace, any.'],
  ['ALLOWED_REPOSITORIES', 'github.com,', `ALLOWED_REPOSITORIES has the entry "", ${ENTRY}`],
  ['ALLOWED_REPOSITORIES', ' ', `ALLOWED_REPOSITORIES has the entry "", ${ENTRY}`],
  ['ALLOWED_REPOSITORIES', 'a.example, *', `ALLOWED_REPOSITORIES has the entry "*", ${ENTRY}`],
  [
    'ALLOWED_REPOSITORIES',
    'https://a.example/b',
    `ALLOWED_REPOSITORIES has the entry "https://a.example/b", ${ENTRY}`,
  ],
  [
    'ALLOWED_REPOSITORIES',
    'https://me:s3cret@a.example/b',
    `ALLOWED_REPOSITORIES has the entry "***@a.example/b", ${ENTRY}`,
  ],
  ['DELEGATE_SERVICE_ACCOUNT', 'team:commitlet', `DELEGATE_SERVICE_ACCOUNT is "team:commitlet", ${ACCOUNT}`],
  ['DELEGATE_SERVICE_ACCOUNT', 'Commitlet', `DELEGATE_SERVICE_ACCOUNT is "Commitlet", ${ACCOUNT}`],
  ['DELEGATE_SERVICE_ACCOUNT', 'commitlet\n', `DELEGATE_SERVICE_ACCOUNT is "commitlet\n", ${ACCOUNT}`],
  ['DELEGATE_SERVICE_ACCOUNT', '-a', `DELEGATE_SERVICE_ACCOUNT is "-a", ${ACCOUNT}`],
  ['DELEGATE_SERVICE_ACCOUNT', 'a..b', `DELEGATE_SERVICE_ACCOUNT is "a..b", ${ACCOUNT}`],
  ['STAMP_KEY_FILE', `${folder}/short`, `STAMP_KEY_FILE is "${folder}/short", ${KEY}`],
  ['STAMP_KEY_FILE', `${folder}/none`, `STAMP_KEY_FILE is "${folder}/none", ${KEY}`],
  ['STAMP_KEY_FILE', `${folder}/folder`, `STAMP_KEY_FILE is "${folder}/folder", ${KEY}`],
] as const) {
  t.test(`${name} cannot be ${JSON.stringify(value.replace(folder, ''))}`, async (t) => {
    t.throws(() => readGateSettings({ [name]: value }, readFileSync), new WrongSetting(complaint))
  })
}

t.test('a name of 254 characters is not that of a service account', async (t) => {
  const account = 'a'.repeat(253)
  t.equal(readGateSettings({ DELEGATE_SERVICE_ACCOUNT: account }, readFileSync).delegation.account, account)
  t.throws(
    () => readGateSettings({ DELEGATE_SERVICE_ACCOUNT: `${account}a` }, readFileSync),
    /^DELEGATE_SERVICE_ACCOUNT is "a+", but/,
  )
})

t.test('older keys lie beside the key, and each has to be a key', async (t) => {
  const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(48, 2)]
  const files = new Map<string, Uint8Array>([
    ['/keys/key', key],
    ['/keys/key.1', one],
    ['/keys/key.2', two],
    ['/keys/key.4', two],
  ])
  const readFile = (path: string): Uint8Array => {
    const found = files.get(path)
    if (found === undefined) throw new Error('no such file')
    return found
  }
  const read = () =>
    readGateSettings({ STAMP_KEY_FILE: '/keys/key' }, readFile).olderStampKeys?.map((older) => older.export())
  t.strictSame(read(), [one, two], 'the first that is missing ends them')
  files.set('/keys/key.1', one.subarray(1))
  const wrong = /^"\/keys\/key\.1", .* 32 bytes or more/
  t.throws(read, { message: wrong })
})
