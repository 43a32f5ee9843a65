import t from 'tap'
import { marked } from '../../../functions/domain/pull-request/marker.ts'
import { startGitServer } from '../../harness/git-server.ts'
import { gitBranches } from '../../harness/hosts/git-branches.ts'
import { memoryApps, publicHalf, type ModelApps } from '../../harness/hosts/github-app.ts'
import { addPull, memoryModel, type ModelIdentity, type TokenRight } from '../../harness/hosts/model.ts'
import { makeRSA } from '../../harness/key-files.ts'
import { keyFile, rsaHalves, secretKey, statement } from '../../harness/openpgp-writer.ts'
import { makeKey } from '../../harness/ssh-keys.ts'
import { dialectOf } from '../../providers/contract/rows.ts'
import { commitlet, fileOf, stepsIn } from '../stage.ts'

// Files in the place of a cluster, on a real Git server that also has the API of a host.
const TOKEN = 'tkn-cli-5uPerSecret'
const server = await startGitServer({ users: [{ password: TOKEN }] })
t.teardown(() => server.close())
const env = { CA_FILE: server.caFile }
let count = 0
/** The uid of what is not stored. */
const NOT_STORED = '00000000-0000-0000-0000-000000000000'

const secret = (token = TOKEN, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'Opaque',
  metadata: { name: 'git' },
  stringData: { token },
  ...more,
})
const configMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'shop' },
  data: { colour: 'blue' },
}
const gitCommit = (repository: string, spec: object = {}): object => ({
  apiVersion: 'commitlet.dev/v1',
  kind: 'GitCommit',
  metadata: { name: 'shop' },
  spec: {
    repository,
    branch: 'main',
    message: 'Record the shop settings',
    credentials: { secretName: 'git' },
    resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: 'shop.yaml' },
    ...spec,
  },
})

async function hosted(
  name: string,
  identity?: ModelIdentity,
  right: TokenRight = 'write',
  apps: ModelApps = memoryApps(),
) {
  const dialect = await dialectOf(name)
  if (dialect === undefined) throw new Error(name)
  // Of its own, because requests about a token name no repository.
  const prefix = `install-${++count}`
  const repository = await server.createRepository(`${prefix}/acme/shop`)
  const model = {
    ...memoryModel(),
    apps,
    branches: gitBranches(repository),
    identities: new Map<string, ModelIdentity>(),
  }
  const protections = new Map<string, boolean>()
  model.tokens.set(TOKEN, right)
  if (identity !== undefined) model.identities.set(TOKEN, identity)
  const apiPath = `/${prefix}${dialect.apiPath}`
  const api = server.serveAPI({ ...dialect, apiPath }, { ...model, protections })
  const provider = { provider: name, providerConfig: { baseURL: `${server.url}${apiPath}` } }
  return { repository, model, protections, api, provider }
}

t.test('a good set-up says of each step what is right, and writes nothing', async (t) => {
  const { repository, provider } = await hosted('gitlab', {
    user: 'ada',
    scopes: ['api', 'read_user'],
    expires: '2199-12-31T00:00:00Z',
  })
  const file = await fileOf(t, configMap, secret(), gitCommit(repository.url, provider))
  const ended = await commitlet(['check', '-f', file, '-o', 'json'], { env })
  t.equal(ended.code, 0, ended.stdout + ended.stderr)
  const steps = stepsIn(ended)
  for (const name of [
    'rules',
    'rights',
    'reference',
    'Secret',
    'DNS',
    'address',
    'trust',
    'log-in',
    'branch',
    'path',
    'push',
  ])
    t.equal(steps[name]?.state, 'good', name)
  t.match(steps['token']?.text, /belongs to ada, has the scopes api, read_user, ends on 2199-12-31/)
  t.match(steps['permission'], { state: 'good' })
  t.match(steps['protection'], { state: 'good', text: /not protected/ })
  t.equal((await repository.log('main')).length, 1)
  t.notMatch(ended.stdout, TOKEN)
})

t.test('a commit that the API makes needs no key, and whether a server signs it is not known', async (t) => {
  const { repository, provider } = await hosted('github')
  const commit = gitCommit(repository.url, { ...provider, commitVia: 'API' })
  const words = ['check', '-f', await fileOf(t, configMap, secret(), commit), '-o', 'json']
  const { signing } = stepsIn(await commitlet(words, { env }))
  t.match(signing, { state: 'unseen', text: /signs it only if its administrator has set that up/ })
  t.equal((await repository.log('main')).length, 1)
})

t.test('a key that can sign the commit is right, and its words are nowhere', async (t) => {
  const { repository, provider } = await hosted('gitlab')
  const { privateKey } = makeKey('-t', 'ed25519', '-C', '')
  const key = secret('', { metadata: { name: 'signing' }, stringData: { 'ssh-privatekey': privateKey } })
  const commit = gitCommit(repository.url, { ...provider, signing: { secretName: 'signing' } })
  const ended = await commitlet(
    ['check', '-f', await fileOf(t, configMap, secret(), key, commit), '-o', 'json'],
    { env },
  )
  t.equal(ended.code, 0, ended.stdout + ended.stderr)
  t.match(stepsIn(ended)['signing'], { state: 'good', text: /signing holds a key that can sign/ })
  t.notMatch(ended.stdout, privateKey.split('\n')[1] ?? '')
})

t.test('an OpenPGP key that has expired is found before anything is committed', async (t) => {
  const { repository, provider } = await hosted('gitlab')
  const expired = keyFile(secretKey(rsaHalves(makeRSA(2048))), statement(0x13, { lifetime: 86_400 }))
  const key = secret('', { metadata: { name: 'signing' }, stringData: { 'key.asc': expired } })
  const signing = { secretName: 'signing', privateKeyKey: 'key.asc', format: 'openpgp' }
  const commit = gitCommit(repository.url, { ...provider, signing })
  const ended = await commitlet(
    ['check', '-f', await fileOf(t, configMap, secret(), key, commit), '-o', 'json'],
    { env },
  )
  t.match(stepsIn(ended)['signing'], { state: 'wrong', text: /has expired on 1970-01-02/ })
})

t.test('a GitHub App: what is issued to it, and what it lacks', async (t) => {
  const apps = memoryApps()
  const { provider, repository } = await hosted('github', undefined, 'write', apps)
  const privateKey = makeKey('-t', 'rsa', '-b', '2048', '-m', 'PEM').privateKey
  apps.keys.set('4711', publicHalf(privateKey))
  const installation = { id: 81, appID: '4711', account: 'acme', repositories: ['shop'], suspended: false }
  const granted: Record<string, 'read' | 'write'> = { contents: 'write' }
  apps.installations.push({ ...installation, permissions: granted })
  apps.onIssue = ({ token }) => server.admit({ username: 'x-access-token', password: token })
  const app = secret('', { stringData: { 'app-id': '4711', 'private-key': privateKey } })
  const credentials = { secretName: 'git', appIDKey: 'app-id', privateKeyKey: 'private-key' }
  const commit = gitCommit(repository.url, { ...provider, credentials })
  const check = async (...objects: readonly object[]) => {
    const ended = await commitlet(['check', '-f', await fileOf(t, ...objects), '-o', 'json'], { env })
    t.notMatch(ended.stdout, /ghs_|MII/)
    return { ...ended, steps: stepsIn(ended) }
  }
  const good = await check(configMap, app, commit)
  t.equal(good.code, 0, good.stdout)
  t.match(good.steps, {
    App: { state: 'good', text: /has issued a token to the GitHub App, for https:\S+ alone/ },
    'log-in': { state: 'good' },
    push: { state: 'good' },
    token: { state: 'good', text: 'The token was issued to an App; repositories that it is for: 1.' },
    permission: { state: 'good' },
  })
  granted['contents'] = 'read'
  const lacking = await check(configMap, app, commit)
  t.match(lacking.steps['App'], {
    state: 'wrong',
    reason: 'PermissionDenied',
    text: /lacks the permission Contents/,
  })
  t.match(lacking.steps['Secret'], { state: 'good' })
  const pull = {
    apiVersion: 'commitlet.dev/v1',
    kind: 'PullRequest',
    metadata: { name: 'shop' },
    spec: {
      ...provider,
      repository: repository.url,
      baseBranch: 'main',
      headBranch: 'new',
      title: 'x',
      credentials,
    },
  }
  t.match((await check(app, pull)).steps['App'], {
    state: 'wrong',
    text: /lacks the permission Pull requests/,
  })
  granted['pull_requests'] = 'write'
  t.match((await check(app, pull)).steps, { App: { state: 'good' }, token: { state: 'good' } })
})

// Bitbucket is at its own address alone: see test/providers/inspect.test.ts.
for (const name of ['github', 'gitlab', 'gitea'])
  t.test(`what ${name} tells about a token and a branch`, async (t) => {
    const scopes = ['repo', 'write_repository']
    const { repository, model, protections, provider } = await hosted(name, { user: 'ada', scopes })
    const look = async (more: object = {}) => {
      const file = await fileOf(t, configMap, secret(), gitCommit(repository.url, { ...provider, ...more }))
      const ended = await commitlet(['check', '-f', file, '-o', 'json'], { env })
      t.notMatch(ended.stdout, TOKEN)
      return { code: ended.code, steps: stepsIn(ended), ended }
    }
    const good = await look()
    t.match(good.steps['token'], { state: 'good', text: /belongs to ada/ }, good.ended.stdout)
    t.match(good.steps['permission'], { state: 'good' })
    if (name !== 'gitea') t.match(good.steps['token']?.text, scopes[0] ?? '')

    const missing = await look({ branch: 'new' })
    t.match(missing.steps['protection'], { state: 'good', text: /No branch new/ })

    protections.set('main', false)
    const rule = (await look()).steps['protection']
    const told: Readonly<Record<string, object>> = {
      github: { state: 'unseen', text: /protected/ },
    }
    t.match(rule, told[name] ?? { state: 'wrong', reason: 'PushRejected', text: /open a PullRequest/ })

    model.tokens.set(TOKEN, 'read')
    model.identities.set(TOKEN, { user: undefined, scopes: ['read:repository'] })
    const reader = await look()
    t.match(reader.steps['permission'], { state: 'wrong', reason: 'PermissionDenied' })
    t.equal(reader.code, 1)

    model.tokens.delete(TOKEN)
    const refused = await look()
    t.match(refused.steps['token'], { state: 'wrong', reason: 'AuthenticationFailed' })
  })

t.test('a value of the Secret that the host repeats, or that is the user name, is not printed', async (t) => {
  const token = 'glpat-5uPerSecretUser'
  const { repository, model, provider } = await hosted('gitlab')
  model.tokens.set(token, 'write')
  model.identities.set(token, { user: token, scopes: ['api', token] })
  t.teardown(server.admit({ password: token }))
  t.teardown(server.admit({ username: token, password: 'x-oauth-basic' }))
  const asToken = { credentials: { secretName: 'git', tokenKey: 'token' } }
  const asUser = { credentials: { secretName: 'git', usernameKey: 'username', passwordKey: 'password' } }
  const stringData = { token, username: token, password: 'x-oauth-basic' }
  for (const credentials of [asToken, asUser]) {
    const commit = gitCommit(repository.url, { ...provider, ...credentials })
    const file = await fileOf(t, configMap, secret('', { stringData }), commit)
    const ended = await commitlet(['check', '-f', file, '-o', 'json'], { env })
    t.equal(stepsIn(ended)['log-in']?.state, 'good', ended.stdout)
    t.notMatch(ended.stdout, token)
    if (credentials === asToken)
      t.match(stepsIn(ended)['token']?.text, 'belongs to ***, has the scopes api, ***')
  }
})

t.test('a token that has ended, and one that ends soon', async (t) => {
  const { repository, model, provider } = await hosted('github')
  const file = await fileOf(t, configMap, secret(), gitCommit(repository.url, provider))
  const look = async () => stepsIn(await commitlet(['check', '-f', file, '-o', 'json'], { env }))
  model.identities.set(TOKEN, { user: 'ada', scopes: undefined, expires: '2020-01-01T00:00:00Z' })
  t.match((await look())['token'], { state: 'wrong', text: /ended on 2020-01-01/ })
  const soon = new Date(Date.now() + 3 * 86_400_000).toISOString().replace(/\.\d+/, '')
  model.identities.set(TOKEN, { user: undefined, scopes: undefined, expires: soon })
  t.match((await look())['token'], { state: 'unseen' }, 'a token without a user tells nothing')
  model.identities.set(TOKEN, { user: 'ada', scopes: undefined, expires: soon })
  t.match((await look())['token'], { state: 'good', text: /replace it soon/ })
})

t.test('an archived repository', async (t) => {
  const { repository, api, provider } = await hosted('gitlab')
  api.fail(
    {
      kind: 'changed',
      change: (answer) => ({ ...answer, body: { ...Object(answer.body), archived: true } }),
    },
    (_method, path) => /^\/projects\/[^/]+$/.test(path),
  )
  const file = await fileOf(t, configMap, secret(), gitCommit(repository.url, provider))
  const ended = await commitlet(['check', '-f', file, '-o', 'json'], { env })
  t.match(stepsIn(ended)['permission'], { state: 'wrong', text: /archived/ })
})

t.test('an outage of the API is no finding', async (t) => {
  const { repository, api, provider } = await hosted('gitea')
  api.fail({ kind: 'answer', answer: { status: 503, body: '' } }, (_method, path) =>
    path.startsWith('/repos/'),
  )
  const file = await fileOf(t, configMap, secret(), gitCommit(repository.url, provider))
  const ended = await commitlet(['check', '-f', file, '-o', 'json'], { env })
  t.match(stepsIn(ended)['token'], { state: 'unseen', reason: 'ProviderUnavailable' })
  t.equal(ended.code, 0)
})

t.test('both credentials are gone through', async (t) => {
  const repository = await server.createRepository(`acme/cli-${++count}`)
  const both = { fallbackCredentials: { secretName: 'other' } }
  const other = secret(TOKEN, { metadata: { name: 'other' } })
  const file = await fileOf(t, configMap, secret('wrong'), other, gitCommit(repository.url, both))
  const ended = await commitlet(['check', '-f', file, '-o', 'json'], { env })
  const steps = stepsIn(ended)
  t.match(steps['log-in'], { state: 'wrong', reason: 'AuthenticationFailed' })
  t.match(steps['repository'], { state: 'unseen', text: /comes first/ })
  t.match(steps['fallback push'], { state: 'good' })
  t.match(steps['token'], { state: 'unseen', text: /software of localhost is not known/ })
  t.equal(ended.code, 1)
})

t.test('an object that cannot be read does not hide the rest', async (t) => {
  const repository = await server.createRepository(`acme/cli-${++count}`)
  const file = await fileOf(t, secret(), gitCommit(repository.url))
  const ended = await commitlet(['check', '-f', file, '-o', 'json'], { env })
  const steps = stepsIn(ended)
  t.match(steps['reference'], { state: 'wrong', reason: 'ReferenceNotFound' })
  t.match(steps['push'], { state: 'good' })
})

t.test('a PullRequest: what would be opened, and what is missing', async (t) => {
  const { repository, model, api, provider } = await hosted('gitea', { user: 'ada', scopes: undefined })
  await repository.commit('next', { 'a.md': 'a' })
  const pull = (spec: object = {}): object => ({
    apiVersion: 'commitlet.dev/v1',
    kind: 'PullRequest',
    metadata: { name: 'shop' },
    spec: {
      repository: repository.url,
      baseBranch: 'main',
      headBranch: 'next',
      title: 'Next',
      credentials: { secretName: 'git' },
      ...provider,
      ...spec,
    },
  })
  const look = async (spec?: object) => {
    const ended = await commitlet(['check', '-f', await fileOf(t, secret(), pull(spec)), '-o', 'json'], {
      env,
    })
    return { code: ended.code, steps: stepsIn(ended) }
  }
  const good = await look()
  t.match(good.steps['API'], { state: 'good', text: /A pull request would be opened/ })
  t.match(good.steps, { base: { state: 'good' }, head: { state: 'good' } })
  t.equal(good.code, 0)
  t.equal(model.pulls.length, 0, 'none was opened')
  const missing = await look({ headBranch: 'gone' })
  t.match(missing.steps['head'], { state: 'wrong', reason: 'HeadNotFound' })
  addPull(model, { base: 'main', head: 'next', title: 'Mine' })
  t.match((await look()).steps['API'], { state: 'good', text: /#1/ })
  const mine = model.pulls[0]
  if (mine !== undefined) Object.assign(mine, marked({ title: 'Old', body: '' }, NOT_STORED))
  t.match((await look()).steps['API'], { state: 'good', text: /Title and body of #1 would be changed/ })
  const unnamed = await look({ credentials: { secretName: 'none' } })
  t.match(unnamed.steps, { Secret: { state: 'wrong' }, 'log-in': { state: 'unseen' } })
  const baseURL = 'https://git.commitlet.invalid/api/v1'
  const elsewhere = { repository: 'https://git.commitlet.invalid/acme/shop.git', providerConfig: { baseURL } }
  const nowhere = await look(elsewhere)
  t.match(nowhere.steps, { DNS: { state: 'wrong' }, API: { state: 'unseen' } })
  api.fail({ kind: 'answer', answer: { status: 401, body: '' } })
  t.match((await look()).steps['API'], { state: 'wrong', reason: 'AuthenticationFailed' })
})

t.test('a proxy, a host whose certificate is let through, and an SSH key that is no token', async (t) => {
  const repository = await server.createRepository(`acme/cli-${++count}`)
  const file = await fileOf(t, configMap, secret(), gitCommit(repository.url))
  const words = ['check', '-f', file, '-o', 'json']
  const proxied = stepsIn(await commitlet(words, { env: { ...env, HTTPS_PROXY: 'http://127.0.0.1:1' } }))
  t.match(proxied, { DNS: { state: 'unseen', text: /proxy/ }, connection: { state: 'wrong' } })
  const insecure = stepsIn(await commitlet(words, { env: { INSECURE_HOSTS: `localhost:${server.port}` } }))
  t.match(insecure, { trust: { state: 'unseen', text: /INSECURE_HOSTS/ }, push: { state: 'good' } })
  const { privateKey, publicKey } = makeKey('-t', 'ed25519')
  const stringData = { 'ssh-privatekey': privateKey, known_hosts: `[localhost]:1 ${publicKey}` }
  const key = secret('', { type: 'kubernetes.io/ssh-auth', stringData })
  const api = { provider: 'gitea', providerConfig: { baseURL: 'https://localhost/api/v1' } }
  const keyed = await fileOf(t, configMap, key, gitCommit('ssh://git@localhost:1/acme/shop.git', api))
  const steps = stepsIn(await commitlet(['check', '-f', keyed, '-o', 'json'], { env }))
  t.match(steps, {
    connection: { state: 'wrong' },
    token: { state: 'unseen', text: /API of gitea was not asked/ },
  })
})

t.test('Secrets of a file', async (t) => {
  const look = async (object: object) => {
    const ended = await commitlet(['check', '-f', await fileOf(t, object), '-o', 'json'], { env })
    return { code: ended.code, steps: stepsIn(ended) }
  }
  const bound = (list: string, paths: string) =>
    secret(TOKEN, {
      metadata: {
        name: 'git',
        annotations: { 'commitlet.dev/allowed-repositories': list, 'commitlet.dev/allowed-paths': paths },
      },
    })
  const good = await look(bound('git.example.com/acme', 'clusters'))
  t.equal(good.code, 0)
  t.match(good.steps, {
    HTTPS: { state: 'good' },
    repositories: { text: /git\.example\.com\/acme/ },
    paths: { state: 'good' },
  })
  const wrong = await look(bound('https://x y', '../x'))
  t.match(wrong.steps, { repositories: { state: 'wrong' }, paths: { state: 'wrong' } })
  const empty = await look(secret('', { stringData: {} }))
  t.match(empty.steps, { HTTPS: { state: 'wrong', reason: 'CredentialsInvalid' }, SSH: { state: 'wrong' } })
  const key = makeKey('-t', 'ed25519').privateKey
  const ssh = await look(
    secret('', { type: 'kubernetes.io/ssh-auth', stringData: { 'ssh-privatekey': key } }),
  )
  t.match(ssh.steps, { SSH: { state: 'good' } })
  t.equal(ssh.steps['HTTPS'], undefined)
})

t.test('on a terminal: marks, colours, and lines that are not too long', async (t) => {
  const repository = await server.createRepository(`acme/cli-${++count}`)
  const file = await fileOf(t, configMap, secret('wrong'), gitCommit(repository.url))
  const { stdout } = await commitlet(['check', '-f', file], { env, colour: true, columns: 80 })
  t.match(stdout, /\u001b\[32m✓\u001b\[39m rules/)
  t.match(stdout, /\u001b\[31m✗\u001b\[39m log-in +AuthenticationFailed: /)
  const longest = Math.max(
    ...stdout
      .replaceAll(/\u001b\[\d+m/g, '')
      .split('\n')
      .map((line) => line.length),
  )
  t.ok(longest <= 90, `${longest} columns`)
})
