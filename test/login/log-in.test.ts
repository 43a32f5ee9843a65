import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { authorise } from '../../functions/login/authorise.ts'
import type { DefaultConfig } from '../../functions/domain/credentials/default-credentials.ts'
import { parseResource } from '../domain/fixtures/parsed.ts'
import { sourcesOf } from '../../functions/login/credential-source.ts'
import type { CredentialSource } from '../../functions/login/credential-source.ts'
import { logIn, logInToAPI } from '../../functions/login/log-in.ts'
import { asFailure, Failure } from '../../functions/domain/failure.ts'
import type { AppTokenRequest, AttemptSettings, World } from '../../functions/world.ts'
import { ATTEMPT, gitCommit, memoryWorld, pullRequest } from '../harness/memory-world.ts'
import { makeKey } from '../harness/ssh-keys.ts'

const GIT = { secretName: 'git', tokenKey: 'token' }
const SPARE = { secretName: 'spare' }
const PRIMARY = { used: 'Primary', field: 'spec.credentials', credentials: GIT } as const
const FALLBACK = { used: 'Fallback', field: 'spec.fallbackCredentials', credentials: SPARE } as const
const signal = new AbortController().signal

t.test('a spec names the sources of credentials and their order', async (t) => {
  const repository = 'https://git.example.com/acme/config'
  t.strictSame(sourcesOf({ repository }), [{ used: 'Default' }])
  t.strictSame(sourcesOf({ repository, credentials: GIT }), [PRIMARY])
  t.strictSame(sourcesOf({ repository, credentials: GIT, fallbackCredentials: SPARE }), [PRIMARY, FALLBACK])
})

const { privateKey, publicKey } = makeKey('-t', 'ed25519')
const { stillThere } = ATTEMPT

/** Logs in for a GitCommit, or for the pull request that stands for it, in a world with two Secrets. */
async function go(
  source: CredentialSource,
  spec: Readonly<Record<string, unknown>> = {},
  settings: Partial<AttemptSettings> = {},
) {
  const world = memoryWorld()
  world.cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/ssh-auth',
    metadata: { name: 'spare', namespace: 'team' },
    stringData: { 'ssh-privatekey': privateKey, token: 'spare-token' },
  })
  const resource = parseGitCommit(world.cluster.apply(gitCommit({ fallbackCredentials: SPARE, ...spec })))
  const there = { ...world, settings: { ...world.settings, ...settings } }
  const authorised = await authorise(resource, there, signal)
  return logIn(source, { resource, authorised, signal, saw: () => undefined, stillThere }, there)
}

function parseGitCommit(stored: unknown) {
  const resource = parseResource(stored)
  if (resource.kind !== 'GitCommit') throw new Error('no GitCommit')
  return resource
}

t.test('over HTTPS each source has the values of its own Secret', async (t) => {
  t.match(await go(PRIMARY), { method: 'password', password: 's3cr3t-token' })
  t.match(await go(FALLBACK), { method: 'password', password: 'spare-token' })
  t.match(await go(PRIMARY, { provider: 'gitlab' }), { username: 'oauth2' })
})

t.test('over SSH it is the private key, and the host keys of the operator count', async (t) => {
  const knownHosts = `git.example.com ${publicKey}`
  const repository = 'git@git.example.com:acme/config.git'
  const spec = { repository, credentials: SPARE, fallbackCredentials: undefined }
  const source = { ...PRIMARY, credentials: SPARE }
  t.match(await go(source, spec, { knownHosts }), { method: 'key', hostKeys: /ssh-ed25519/ })
  await t.rejects(go(source, spec), { name: 'Failure', reason: 'HostKeyUnknown' })
})

t.test('a path that the Secret does not allow is refused before its values are read', async (t) => {
  const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: '.github/a.yaml' }
  const credentials = { secretName: 'git', tokenKey: 'nothing' }
  await t.rejects(go({ ...PRIMARY, credentials }, { resourceRef, credentials }), {
    reason: 'ReferenceForbidden',
    message: /has the part "\.github"/,
  })
})

const DEFAULT = { used: 'Default' } as const
const WITHOUT = { credentials: undefined, fallbackCredentials: undefined }

function defaults(more: Partial<DefaultConfig> = {}): Partial<AttemptSettings> {
  const source = { token: 'tkn-0f-the-operator' }
  const repositories = 'git.example.com/{namespace}'
  return { defaults: { source, username: undefined, repositories, paths: undefined, ...more } }
}

t.test("the operator's default goes to the repositories of the namespace", async (t) => {
  const ours = { ...WITHOUT, repository: 'https://git.example.com/team/config.git' }
  t.match(await go(DEFAULT, ours, defaults()), { method: 'password', password: 'tkn-0f-the-operator' })
  t.match(await go(DEFAULT, { ...ours, provider: 'gitlab' }, defaults()), { username: 'oauth2' })
  await t.rejects(go(DEFAULT, WITHOUT, defaults()), {
    reason: 'ReferenceForbidden',
    message: /may not be used for https:\/\/git\.example\.com\/acme\/config\.git in the namespace team;/,
  })
  await t.rejects(go(DEFAULT, ours, defaults({ paths: 'prod' })), {
    message: /may not write spec\.resourceRef\.path/,
  })
})

t.test('the file of its token is read at each attempt', async (t) => {
  const file = join(t.testdir({ token: 'first-token\n' }), 'token')
  const ours = { ...WITHOUT, repository: 'https://git.example.com/team/config.git' }
  const settings = defaults({ source: { file } })
  const first = await go(DEFAULT, ours, settings)
  writeFileSync(file, 'second-token\n')
  const second = await go(DEFAULT, ours, settings)
  t.match([first, second], [{ password: 'first-token' }, { password: 'second-token' }])
  t.not(first.identity, second.identity)
})

t.test('where the operator has set none, the sentence says so', async (t) => {
  await t.rejects(go(DEFAULT, WITHOUT), {
    reason: 'CredentialsInvalid',
    retry: 'slow',
    message:
      'spec.credentials is missing, and the operator has set no default credentials (DEFAULT_GIT_TOKEN); name a Secret there.',
  })
})

const APP = { secretName: 'app', appIDKey: 'app-id', installationIDKey: 'installation', privateKeyKey: 'key' }
const APP_KEY = makeKey('-t', 'rsa', '-b', '2048', '-m', 'PEM').privateKey
const GITHUB = 'https://github.com/acme/config.git'

/** Logs in for a GitCommit in a world whose hosts issue tokens; returns also what was asked of them. */
async function goByApp(
  spec: Readonly<Record<string, unknown>>,
  settings: Partial<AttemptSettings> = {},
  annotations = {},
) {
  const world = memoryWorld()
  const asked: AppTokenRequest[] = []
  world.cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'app', namespace: 'team', annotations },
    stringData: { 'app-id': '4711\n', installation: '81', key: APP_KEY },
  })
  const resource = parseGitCommit(world.cluster.apply(gitCommit({ repository: GITHUB, ...spec })))
  const there: World = {
    ...world,
    settings: { ...world.settings, ...settings },
    appTokens: (request) => {
      asked.push(request)
      return Promise.resolve({ token: 'ghs_token', counted: 'counted', forget: () => undefined })
    },
  }
  const authorised = await authorise(resource, there, signal)
  const [source] = sourcesOf(resource.spec)
  const login = await logIn(
    source,
    { resource, authorised, signal, saw: () => undefined, stillThere },
    there,
  ).catch(asFailure)
  return { login, asked }
}

t.test(
  'a GitHub App logs in with the token that is issued to it, for the kind of the resource',
  async (t) => {
    const { login, asked } = await goByApp({ credentials: APP })
    t.match(login, {
      method: 'password',
      username: 'x-access-token',
      password: 'ghs_token',
      issued: { counted: 'counted' },
    })
    if (login instanceof Failure) return t.fail()
    t.ok(login.secrets.includes('ghs_token') && login.secrets.includes('x-access-token:ghs_token'))
    t.match(asked, [{ app: { id: '4711', installation: '81' }, kind: 'GitCommit', namespace: 'team' }])
  },
)

t.test('outside of the binding of its Secret no token is asked for', async (t) => {
  const bound = { 'commitlet.dev/allowed-repositories': 'github.com/acme/shop' }
  const { login, asked } = await goByApp({ credentials: APP }, {}, bound)
  t.match(login, { reason: 'ReferenceForbidden' })
  t.strictSame(asked, [])
})

t.test(
  "the operator's App asks for tokens where the default may be used, by its own installation alone",
  async (t) => {
    const keyFile = join(t.testdir({ key: APP_KEY }), 'key')
    const source = { appID: '1234', installationID: undefined, keyFile }
    const settings = defaults({ source, repositories: 'github.com/acme' })
    const { login, asked } = await goByApp(WITHOUT, settings)
    t.match(login, { password: 'ghs_token' })
    t.match(asked, [
      { app: { id: '1234', installation: undefined, shown: "The operator's default GitHub App" } },
    ])
    const elsewhere = await goByApp({ ...WITHOUT, repository: 'https://github.com/evil/config' }, settings)
    t.match(elsewhere, { login: { reason: 'ReferenceForbidden' }, asked: [] })
    const tenant = await goByApp({ credentials: APP }, settings)
    t.match(
      tenant.asked,
      [{ app: { id: '4711', installation: '81' } }],
      "a tenant's number goes with its own key",
    )
    writeFileSync(keyFile, 'nothing')
    t.match(await goByApp(WITHOUT, settings), {
      login: {
        reason: 'CredentialsInvalid',
        message: /DEFAULT_GITHUB_APP_KEY_FILE does not hold a private key/,
      },
      asked: [],
    })
  },
)

/** Logs in for a PullRequest of github.com/acme/config by a Secret with these annotations. */
async function goToAPI(
  source: CredentialSource,
  annotations: Readonly<Record<string, string>> = {},
  settings: Partial<AttemptSettings> = {},
) {
  const world = memoryWorld()
  const metadata = { name: 'git', namespace: 'team', annotations }
  world.cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata,
    stringData: { token: 's3cr3t-token', owner: 'acme' },
  })
  const credentials = source.used === 'Default' ? {} : { credentials: GIT }
  const repository = 'https://github.com/acme/config'
  const stored = world.cluster.apply(pullRequest({ repository, credentials: undefined, ...credentials }))
  const resource = parseResource(stored)
  if (resource.kind !== 'PullRequest') throw new Error('no PullRequest')
  const there = { ...world, settings: { ...world.settings, ...settings } }
  const authorised = await authorise(resource, there, signal)
  return logInToAPI(source, { resource, authorised, signal, saw: () => undefined, stillThere }, there)
}

t.test('a pull request writes no path, so none is checked', async (t) => {
  const annotations = { 'commitlet.dev/allowed-paths': 'prod' }
  t.match(await goToAPI(PRIMARY, annotations), { login: { secret: 's3cr3t-token' } })
})

const BOUND = { 'commitlet.dev/allowed-repositories': 'github.com/acme' }
const RENAMED = ['acme', 'store']
const TRANSFERRED = ['market', 'store']

t.test('a renamed repository is followed as far as the Secret allows', async (t) => {
  const bound = await goToAPI(PRIMARY, BOUND)
  bound.permit(RENAMED)
  t.throws(() => bound.permit(TRANSFERRED), {
    reason: 'ReferenceForbidden',
    message: /is now called market\/store\. .* add github\.com\/market\/store to its annotation/,
  })
  const free = await goToAPI(PRIMARY)
  free.permit(TRANSFERRED)
  t.throws(() => free.permit(['market', 's3cr3t-token']), { message: /is now called market\/\*\*\*\./ })
})

t.test('... and as far as the operator allows', async (t) => {
  const { permit } = await goToAPI(PRIMARY, {}, { allowedRepositories: 'github.com/acme' })
  permit(RENAMED)
  t.throws(() => permit(TRANSFERRED), {
    reason: 'ReferenceForbidden',
    message: /is now called market\/store\. .*ALLOWED_REPOSITORIES/,
  })
})

t.test('... and with the default credentials as far as those may go', async (t) => {
  const { permit } = await goToAPI(DEFAULT, {}, defaults({ repositories: 'github.com/acme' }))
  permit(RENAMED)
  t.throws(() => permit(TRANSFERRED), {
    reason: 'ReferenceForbidden',
    message: /is now called market\/store\. The operator's default credentials may not be used for /,
  })
})
