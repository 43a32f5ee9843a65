import t from 'tap'
import type { DefaultConfig } from '../../functions/domain/credentials/default-credentials.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { parseResource } from '../domain/fixtures/parsed.ts'
import { failureOf } from '../domain/fixtures/thrown.ts'
import type { SoundPullRequest } from '../../functions/domain/schema/parse.ts'
import type { Outcome } from '../../functions/domain/resource/status.ts'
import { openPullRequest } from '../../functions/pull-request/open-pull-request.ts'
import { ATTEMPT, memoryWorld, pullRequest } from '../harness/memory-world.ts'
import type { MemoryWorld } from '../harness/memory-world.ts'
import { makeKey } from '../harness/ssh-keys.ts'

const SPARE = { secretName: 'spare', usernameKey: 'user', passwordKey: 'password' }
const SPARE_SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'Opaque',
  metadata: { name: 'spare', namespace: 'team' },
  stringData: { user: 'dev', password: 'spare-token' },
}
const { signal } = new AbortController()

function store(world: MemoryWorld, spec: Readonly<Record<string, unknown>> = {}): SoundPullRequest {
  const resource = parseResource(world.cluster.apply(pullRequest(spec)))
  if (resource.kind !== 'PullRequest') throw new Error('no PullRequest')
  return resource
}

function go(world: MemoryWorld, spec: Readonly<Record<string, unknown>> = {}): Promise<Outcome> {
  return openPullRequest(store(world, spec), world, { ...ATTEMPT, signal })
}

t.test('it is opened with the API of the repository and the token of the Secret', async (t) => {
  const world = memoryWorld()
  t.match(await go(world), {
    reason: 'Succeeded',
    credentialsUsed: 'Primary',
    pullRequest: { number: 1, state: 'open' },
  })
  const [opened] = world.opened
  t.match(opened?.target, {
    host: { name: 'github' },
    baseURL: 'https://api.github.com',
    repository: ['acme', 'shop'],
    shown: 'https://github.com/acme/shop.git',
    branches: { base: 'main', head: 'feature', headOwner: undefined },
  })
  t.match(opened?.login, { secret: 's3cr3t-token', username: undefined })
  t.equal(opened?.signal, signal)
  t.doesNotThrow(() => opened?.target.permit(['market', 'store']))
})

t.test('the text before a colon is the owner of a fork', async (t) => {
  const world = memoryWorld()
  await go(world, { headBranch: 'dev:feature/one' })
  const branches = world.opened.map(({ target }) => target.branches)
  t.strictSame(branches, [{ base: 'main', head: 'feature/one', headOwner: 'dev' }])
})

t.test('the token of a GitHub App that ends while it is used is asked for once more', async (t) => {
  const world = memoryWorld()
  const privateKey = makeKey('-t', 'rsa', '-b', '2048', '-m', 'PEM').privateKey
  const stringData = { 'app-id': '4711', 'private-key': privateKey }
  world.cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'app', namespace: 'team' },
    stringData,
  })
  const credentials = { secretName: 'app', appIDKey: 'app-id', privateKeyKey: 'private-key' }
  const forgotten: string[] = []
  let issued = 0
  const appTokens: MemoryWorld['appTokens'] = ({ kind }) => {
    const token = `token-${(issued += 1)} for a ${kind}`
    return Promise.resolve({ token, counted: 'acme', forget: () => void forgotten.push(token) })
  }
  const { pullRequests } = world
  const refusing = {
    ...pullRequests,
    find: () => Promise.reject(new Failure('AuthenticationFailed', 'No.')),
  }
  const withPullRequests: MemoryWorld['withPullRequests'] = (called, caller, work) => {
    world.opened.push({ target: called, ...caller })
    return work(world.opened.length === 1 ? refusing : pullRequests)
  }
  t.match(await go({ ...world, appTokens, withPullRequests }, { credentials }), {
    reason: 'Succeeded',
    credentialsUsed: 'Primary',
  })
  t.strictSame(
    world.opened.map(({ login }) => login.secret),
    ['token-1 for a PullRequest', 'token-2 for a PullRequest'],
  )
  t.strictSame(forgotten, ['token-1 for a PullRequest'])
})

t.test('an SSH repository has a token for the API', async (t) => {
  const world = memoryWorld()
  await go(world, {
    repository: 'ssh://git@git.example.com:2222/acme/team/shop.git',
    provider: 'gitlab',
    providerConfig: { baseURL: 'https://git.example.com/api/v4' },
  })
  t.match(world.opened, [
    {
      target: {
        host: { name: 'gitlab' },
        baseURL: 'https://git.example.com/api/v4',
        repository: ['acme', 'team', 'shop'],
      },
    },
  ])
})

t.test('an earlier attempt may have opened it', async (t) => {
  const world = memoryWorld()
  await openPullRequest(store(world), world, { ...ATTEMPT, again: true, signal })
  t.strictSame(world.pullRequests.calls, ['find all', 'create'])
})

t.test('the fallback is used where the first credentials fail, and both are masked', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(SPARE_SECRET)
  world.pullRequests.before = () => {
    if (world.opened.length === 1) throw new Failure('AuthenticationFailed', 'The token is refused.')
  }
  t.match(await go(world, { fallbackCredentials: SPARE }), {
    credentialsUsed: 'Fallback',
    reason: 'Succeeded',
  })
  const [first, second] = world.opened.map(({ login }) => login)
  t.notOk(first?.secrets.includes('spare-token'))
  t.match(second, { username: 'dev', secret: 'spare-token' })
  for (const secret of ['s3cr3t-token', 'spare-token', 'dev:spare-token'])
    t.ok(second?.secrets.includes(secret), secret)
})

t.test('no address and no new name of the repository shows what was sent before the fallback', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(SPARE_SECRET)
  world.pullRequests.before = () => {
    if (world.opened.length === 1) throw new Failure('AuthenticationFailed', 'The token is refused.')
  }
  await go(world, { fallbackCredentials: SPARE })
  t.strictSame(
    world.opened.map(({ sent }) => sent),
    [[], ['s3cr3t-token']],
  )
  const [, second] = world.opened
  const moved = failureOf(() => second?.target.permit(['acme', 's3cr3t-token']))
  t.match(moved, { reason: 'ReferenceForbidden' })
  t.notMatch(moved.message, /s3cr3t-token/)
})

t.test('a Secret that is bound to another repository does not go to the API', async (t) => {
  const world = memoryWorld()
  const annotations = { 'commitlet.dev/allowed-repositories': 'github.com/other' }
  const metadata = { name: 'git', namespace: 'team', annotations }
  world.cluster.apply({ ...SPARE_SECRET, metadata, stringData: { token: 's3cr3t-token' } })
  await t.rejects(go(world), {
    reason: 'ReferenceForbidden',
    message: /does not allow https:\/\/github\.com\/acme\/shop/,
  })
  t.strictSame(world.opened, [])
})

t.test("without credentials the operator's default is used, where it is allowed", async (t) => {
  const world = memoryWorld()
  const defaults: DefaultConfig = {
    source: { token: 'tkn-0f-the-operator' },
    username: undefined,
    repositories: 'github.com/acme',
    paths: 'clusters',
  }
  const there = { ...world, settings: { ...world.settings, defaults } }
  t.match(await go(there, { credentials: undefined }), { credentialsUsed: 'Default' })
  t.match(world.opened, [{ login: { secret: 'tkn-0f-the-operator' } }])
  const forked = go(there, { credentials: undefined, headBranch: 'dev:feature' })
  await t.rejects(forked, { reason: 'ReferenceForbidden', message: /the branch of a fork/ })
})

t.test('where the gate refuses, no request goes to the host', async (t) => {
  const world = memoryWorld()
  world.cluster.mayAccess = (_user, { verb }) => verb !== 'get'
  await t.rejects(go(world, { headBranch: 'dev:feature' }), {
    reason: 'ReferenceForbidden',
    message: /`use` is not enough/,
  })
  world.cluster.mayAccess = () => false
  await t.rejects(go(world), { name: 'Failure', reason: 'ReferenceForbidden' })
  t.strictSame(world.opened, [])
})

t.test('the claim is confirmed before each write to the host, and not for reading', async (t) => {
  const world = memoryWorld()
  const times = new Set<number | undefined>()
  const confirm = async (_afresh?: boolean, withinMs?: number) => {
    times.add(withinMs)
    world.pullRequests.calls.push('confirm')
  }
  const claim = { confirm, remaining: () => 25_000 }
  const resource = store(world, { labels: ['settings'], reviewers: ['dev'] })
  await openPullRequest(resource, world, { ...ATTEMPT, signal, claim })
  t.same([...times], [2_000], 'others may wait for the turn of the token')
  t.same(world.pullRequests.calls, [
    'find open',
    'confirm',
    'create',
    'confirm',
    'add labels',
    'confirm',
    'add reviewers',
  ])
})

t.test('an attempt whose claim is lost writes nothing to the host', async (t) => {
  const world = memoryWorld()
  const lost = new Failure('Conflict', 'Another attempt has taken over.')
  const claim = { confirm: () => Promise.reject(lost), remaining: () => 0 }
  await t.rejects(openPullRequest(store(world), world, { ...ATTEMPT, signal, claim }), lost)
  t.same(world.pullRequests.held, [])
})
