import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { App } from '../../functions/domain/credentials/app.ts'
import type { Change } from '../../functions/domain/commit/change.ts'
import { asFailure, Failure } from '../../functions/domain/failure.ts'
import { parseRepositoryAddress } from '../../functions/domain/repository/address.ts'
import { targetOf } from '../../functions/domain/repository/target.ts'
import type { IssueToken } from '../../functions/login/app-tokens.ts'
import { HOSTS } from '../../functions/domain/repository/hosts.ts'
import { guardRemotes } from '../../functions/login/guarded-remotes.ts'
import { makeApiLimits } from '../../functions/login/limits/api-limits.ts'
import type { World } from '../../functions/world.ts'
import { handle } from '../../functions/attempt/attempt.ts'
import { finder } from '../../functions/attempt/find.ts'
import { ATTEMPT, gitCommit, memoryWorld, pullRequest } from '../harness/memory-world.ts'

/** A world whose remotes are guarded, with a clock that a test sets. */
function stage() {
  const world = memoryWorld()
  let ms = 1_000
  const { push, find, withPullRequests } = world
  const issueToken = (): Promise<never> => Promise.reject(new Error('There are no Apps here'))
  const remotes = { push, find, withPullRequests, issueToken }
  Object.assign(world, guardRemotes(remotes, { failedLogins: 5, elapsed: () => ms }))
  const send = async (kind: 'GitCommit' | 'PullRequest', name: string): Promise<unknown> => {
    await handle({ kind, namespace: 'team', name }, finder(world.cluster, { reads: 1, waits: 0 }), world)
    return world.cluster.get(kind, 'team', name)?.status
  }
  const apply = (name: string, spec = {}, annotations = {}): void => {
    const { metadata, ...rest } = gitCommit(spec, annotations)
    world.cluster.apply({ ...rest, metadata: { ...metadata, name } })
  }
  return { world, apply, send, wait: (seconds: number) => (ms += seconds * 1000) }
}

t.test('a host that asks for fewer requests is not called with that login before its time', async (t) => {
  const { world, apply, send, wait } = stage()
  const repository = 'https://git.example.com/acme/other.git'
  const limited = new Failure('RateLimited', 'One at a time.', { retryAfterSeconds: 90 })
  world.land = () => Promise.reject(limited)
  apply('one')
  t.match(await send('GitCommit', 'one'), {
    conditions: [{ reason: 'RateLimited', message: 'One at a time.' }],
  })
  apply('two', { repository })
  wait(30)
  t.match(await send('GitCommit', 'two'), {
    nextAttemptTime: '2026-03-01T10:01:00Z',
    conditions: [{ reason: 'RateLimited', message: /^git\.example\.com has asked for fewer requests/ }],
  })
  t.equal(world.pushed.length, 1)
  apply('elsewhere', { repository: 'https://other.example.com/acme/config.git' })
  world.land = () => Promise.resolve({ outcome: 'pushed', sha: 'a'.repeat(40), branch: 'main' })
  t.match(await send('GitCommit', 'elsewhere'), { phase: 'Succeeded' })
  apply('asked', { repository }, { 'commitlet.dev/requested-at': 'now' })
  t.match(await send('GitCommit', 'asked'), { phase: 'Succeeded' }, 'a request of its user goes through')
  wait(60)
  apply('three', { repository })
  t.match(await send('GitCommit', 'three'), { phase: 'Succeeded' })
})

t.test('a request of its user goes through once: retries wait, also where nothing was pushed', async (t) => {
  const { world, apply, send, wait } = stage()
  const missing = { resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'late', path: 'a.yaml' } }
  apply('asked', missing, { 'commitlet.dev/requested-at': 'now' })
  t.match(await send('GitCommit', 'asked'), { conditions: [{ reason: 'ReferenceNotFound' }] })
  world.land = () => Promise.reject(new Failure('RateLimited', 'One at a time.', { retryAfterSeconds: 3600 }))
  apply('one')
  await send('GitCommit', 'one')
  const data = { colour: 'red' }
  world.cluster.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'late', namespace: 'team' },
    data,
  })
  Object.assign(world, { now: () => new Date('2026-03-01T10:30:00Z') })
  wait(1800)
  t.match(await send('GitCommit', 'asked'), {
    attempts: 2,
    conditions: [{ message: /^git\.example\.com has asked for fewer requests/ }],
  })
  t.equal(world.pushed.length, 1)
})

t.test('a request of its user goes through again where its attempt has only broken off', async (t) => {
  const { world, apply, send } = stage()
  const limited = new Failure('RateLimited', 'One at a time.', { retryAfterSeconds: 3600 })
  const broken = new Failure('NetworkError', 'The connection broke off.')
  const attemptAt = (minutes: number): Promise<unknown> => {
    Object.assign(world, { now: () => new Date(Date.parse('2026-03-01T10:00:00Z') + minutes * 60_000) })
    return send('GitCommit', 'one')
  }
  world.land = () => Promise.reject(limited)
  apply('one')
  await attemptAt(0)
  apply('one', {}, { 'commitlet.dev/requested-at': 'now' })
  world.land = () => Promise.reject(broken)
  t.match(await attemptAt(1), { attempts: 1, conditions: [{ reason: 'NetworkError' }] })
  world.land = () => Promise.reject(limited)
  t.match(await attemptAt(10), { attempts: 2, conditions: [{ message: 'One at a time.' }] })
  t.match(await attemptAt(100), { attempts: 3, conditions: [{ message: /has asked for fewer requests/ }] })
  t.equal(world.pushed.length, 3)
})

t.test('a limit of commits that the API makes does not hold up pushes with the same login', async (t) => {
  const { push, find, withPullRequests } = memoryWorld()
  const issueToken = (): Promise<never> => Promise.reject(new Error('There are no Apps here'))
  const limited = new Failure('RateLimited', 'Fewer points.', { retryAfterSeconds: 3600 })
  const limiting: typeof push = (change, login, attempt) =>
    change.commitByAPI === undefined ? push(change, login, attempt) : Promise.reject(limited)
  const guarded = guardRemotes(
    { push: limiting, find, withPullRequests, issueToken },
    { failedLogins: 3, elapsed: () => 1_000 },
  )
  const repository = parseRepositoryAddress('https://github.com/acme/shop')
  const draft = { namespace: 'team', repository, id: 'uid.1', files: [] } as unknown as Change
  const login = { method: 'password', username: 'x', password: 'y', identity: 'one', secrets: [] } as const
  const go = (change: Change): Promise<unknown> => guarded.push(change, login, ATTEMPT).catch(asFailure)
  const byAPI = { ...draft, commitByAPI: () => Promise.reject(limited) }
  t.match(await go(byAPI), { message: 'Fewer points.' })
  t.match(await go(draft), { outcome: 'pushed' })
  t.match(await go(byAPI), { reason: 'RateLimited', message: /^github\.com has asked for fewer/ })
})

t.test(
  'a namespace that has had its share of the requests of an API keeps no commits of others waiting',
  async (t) => {
    const { find, withPullRequests } = memoryWorld()
    const issueToken = (): Promise<never> => Promise.reject(new Error('There are no Apps here'))
    const apiLimits = makeApiLimits(() => 0)
    let left = 100
    const answer = (): Promise<Response> => {
      const headers = {
        date: 'Thu, 26 Nov 2026 22:00:00 GMT',
        'x-ratelimit-remaining': String((left -= 1)),
        'x-ratelimit-reset': String(Date.parse('2026-11-26T23:00:00Z') / 1000),
      }
      return Promise.resolve(new Response(null, { headers }))
    }
    const late = (): Failure => new Failure('Timeout', 'late')
    const push: World['push'] = ({ namespace }, _login, { signal }) => {
      const counted = {
        baseURL: 'https://api.github.com',
        username: undefined,
        secret: 'y',
        ofOperator: true,
      } as const
      return apiLimits.run(counted, { owner: namespace, signal, late }, async (_turn, share) => {
        await share(answer, 'GraphQL')('https://api.github.com/graphql', { method: 'POST', headers: {} })
        return { outcome: 'pushed', sha: 'a'.repeat(40), branch: 'main' }
      })
    }
    const guarded = guardRemotes(
      { push, find, withPullRequests, issueToken },
      { failedLogins: 3, elapsed: () => 1_000, isOwnLimit: apiLimits.isOwn },
    )
    const repository = parseRepositoryAddress('https://github.com/acme/shop')
    const commitByAPI = (): Promise<never> => Promise.reject(new Error('It is pushed.'))
    const login = { method: 'password', username: 'x', password: 'y', identity: 'one', secrets: [] } as const
    const commitAs = (namespace: string): Promise<unknown> =>
      guarded
        .push(
          { namespace, repository, id: 'uid.1', files: [], commitByAPI } as unknown as Change,
          login,
          ATTEMPT,
        )
        .catch(asFailure)
    const hogs = await Promise.all(Array.from({ length: 60 }, () => commitAs('hog')))
    t.match(hogs.at(-1), { reason: 'RateLimited', message: /^This namespace has had its share/ })
    t.match(await commitAs('team'), { outcome: 'pushed' })
  },
)

t.test('the tokens of one installation of an App share a limit at Git, too', async (t) => {
  const { push, find, withPullRequests } = memoryWorld()
  const issueToken = (): Promise<never> => Promise.reject(new Error('There are no Apps here'))
  const pushed: string[] = []
  const limited = new Failure('RateLimited', 'One at a time.', { retryAfterSeconds: 90 })
  const limiting: typeof push = (change, login) => {
    pushed.push(login.identity)
    return change.repository.segments[1] === 'one' ? Promise.reject(limited) : push(change, login, ATTEMPT)
  }
  const guarded = guardRemotes(
    { push: limiting, find, withPullRequests, issueToken },
    { failedLogins: 3, elapsed: () => 1_000 },
  )
  const go = (repository: string, counted: string): Promise<unknown> => {
    const address = parseRepositoryAddress(`https://github.com/acme/${repository}`)
    const issued = { counted, forget: () => undefined }
    const login = {
      method: 'password',
      username: 'x',
      password: 'y',
      identity: repository,
      secrets: [],
      issued,
    } as const
    const change = { namespace: 'team', repository: address, id: 'uid.1', files: [] } as unknown as Change
    return guarded.push(change, login, ATTEMPT).catch(asFailure)
  }
  t.match(await go('one', 'acme'), { message: 'One at a time.' })
  t.match(await go('two', 'acme'), { reason: 'RateLimited', message: /^github\.com has asked for fewer/ })
  t.match(await go('three', 'market'), { outcome: 'pushed' })
  t.strictSame(pushed, ['one', 'three'])
})

t.test('log-ins that fail are bounded for Git and for the APIs', async (t) => {
  const { world, apply, send } = stage()
  const refused = new Failure('AuthenticationFailed', 'No.')
  world.land = () => Promise.reject(refused)
  for (let i = 0; i < 7; i += 1) {
    apply(`git-${i}`, { repository: `https://github.com/acme/repository-${i}.git` })
    await send('GitCommit', `git-${i}`)
  }
  t.equal(world.pushed.length, 5)
  world.pullRequests.find = () => Promise.reject(refused)
  for (let i = 0; i < 7; i += 1) {
    const { metadata, ...rest } = pullRequest({ repository: `https://github.com/acme/repository-${i}.git` })
    world.cluster.apply({ ...rest, metadata: { ...metadata, name: `pull-${i}` } })
    await send('PullRequest', `pull-${i}`)
  }
  t.equal(world.opened.length, 5)
})

t.test('a login that fails at many branches of a repository at once is bounded as well', async (t) => {
  const refused = new Failure('AuthenticationFailed', 'No.')
  const tried = { push: 0, find: 0, pull: 0 }
  const refuse = (what: keyof typeof tried) => async (): Promise<never> => {
    tried[what] += 1
    await setImmediate()
    throw refused
  }
  const login = { method: 'password', username: 'x', password: 'y', identity: 'bad', secrets: [] } as const
  const repository = parseRepositoryAddress('https://git.example.com/acme/shop')
  const { signal } = ATTEMPT
  for (const what of ['push', 'find', 'pull'] as const) {
    const guarded = guardRemotes(
      {
        push: refuse('push'),
        find: refuse('find'),
        withPullRequests: refuse('pull'),
        issueToken: refuse('pull'),
      },
      { failedLogins: 5, elapsed: () => 1_000 },
    )
    const calls = {
      push: (branch: string) =>
        guarded.push(
          { namespace: 'team', repository, branch, id: 'uid.1', files: [] } as never,
          login,
          ATTEMPT,
        ),
      find: () =>
        guarded.find(
          { namespace: 'team', repository, branch: 'main', id: 'uid.1', files: [] } as never,
          login,
          ATTEMPT,
        ),
      pull: () =>
        guarded.withPullRequests(
          { baseURL: 'https://git.example.com/api/v1', repository: ['acme', 'shop'] } as never,
          { namespace: 'team', login: { ...login, secret: 'y' }, signal },
          () => Promise.reject(new Error('Nobody logs in.')),
        ),
    }
    await Promise.all(Array.from({ length: 50 }, (_, i) => calls[what](`branch-${i}`).catch(asFailure)))
    t.equal(tried[what], 5, what)
  }
})

/** Asks for tokens of an App with this key, through the guards. */
function askers(issueToken: IssueToken) {
  const { push, find, withPullRequests } = memoryWorld()
  const guarded = guardRemotes(
    { push, find, withPullRequests, issueToken },
    { failedLogins: 3, elapsed: () => 1_000 },
  )
  return (keyDigest: string, repository = 'shop', namespace = 'team'): Promise<unknown> => {
    const target = targetOf('GitCommit', parseRepositoryAddress(`https://github.com/acme/${repository}`))
    const { signal } = new AbortController()
    const app = { id: '1', installation: undefined, keyDigest } as App
    return guarded.issueToken({ app, target, kind: 'GitCommit', namespace, signal }).catch(asFailure)
  }
}

t.test('a limit of an App is that of its key: whoever has another one makes nobody wait', async (t) => {
  let asked = 0
  const ask = askers(({ app }) => {
    asked += 1
    if (app.keyDigest === 'good') return Promise.resolve({ token: 'x', installation: '1', seconds: 3_600 })
    return Promise.reject(new Failure('RateLimited', 'Slowly.', { retryAfterSeconds: 60 }))
  })
  t.match(await ask('evil'), { message: 'Slowly.' })
  t.match(await ask('evil', 'other'), {
    reason: 'RateLimited',
    message: /^api\.github\.com has asked for fewer/,
  })
  t.equal(asked, 1)
  t.match(await ask('good'), { token: 'x' })
})

t.test('a namespace that has had its share of what an App may ask for makes nobody wait', async (t) => {
  const { push, find, withPullRequests } = memoryWorld()
  const own = new Failure('RateLimited', 'This namespace has had its share.', { retryAfterSeconds: 60 })
  const guarded = guardRemotes(
    {
      push,
      find,
      withPullRequests,
      issueToken: ({ namespace }) =>
        namespace === 'hog'
          ? Promise.reject(own)
          : Promise.resolve({ token: 'x', installation: '1', seconds: 3_600 }),
    },
    { failedLogins: 3, elapsed: () => 1_000, isOwnLimit: (error) => error === own },
  )
  const target = targetOf('GitCommit', parseRepositoryAddress('https://github.com/acme/shop'))
  const { signal } = new AbortController()
  const app = { id: '1', installation: undefined, keyDigest: 'key' } as App
  const ask = (namespace: string): Promise<unknown> =>
    guarded.issueToken({ app, target, kind: 'GitCommit', namespace, signal }).catch(asFailure)
  t.equal(await ask('hog'), own)
  t.match(await ask('team'), { token: 'x' })
})

t.test('keys that a host does not accept are bounded for each namespace', async (t) => {
  let asked = 0
  const ask = askers(() => {
    asked += 1
    return Promise.reject(new Failure('AuthenticationFailed', 'No.'))
  })
  for (let i = 0; i < 6; i += 1) t.match(await ask(`key ${i}`), { reason: 'AuthenticationFailed' })
  t.equal(asked, 3)
  await ask('key', 'shop', 'another')
  t.equal(asked, 4)
})

t.test('keys that a server refuses are bounded, whatever names of it are written', async (t) => {
  const { find, withPullRequests } = memoryWorld()
  const issueToken = (): Promise<never> => Promise.reject(new Error('There are no Apps here'))
  let refused = 0
  const push = (): Promise<never> => {
    refused += 1
    return Promise.reject(new Failure('AuthenticationFailed', 'No.'))
  }
  const bounds = { failedLogins: 3, elapsed: () => 1_000 }
  const guarded = guardRemotes({ push, find, withPullRequests, issueToken }, bounds)
  const hostKey = HOSTS.flatMap(({ sshKeys }) => sshKeys).find((key) => key.startsWith('ssh-ed25519')) ?? ''
  for (let i = 0; i < 10; i += 1) {
    const repository = parseRepositoryAddress(`git@n${i}.example.com:acme/shop-${i}.git`)
    const change = { namespace: 'team', repository, id: 'uid.1', files: [] } as unknown as Change
    const line = `n${i}.example.com ${hostKey}\n`
    const hostKeys = line + line
    const key = { method: 'key', namespace: 'team', privateKey: '', identity: `${i}`, secrets: [] } as const
    await guarded.push(change, { ...key, hostKeys }, ATTEMPT).catch(asFailure)
  }
  t.equal(refused, 3)
})

t.test('log-ins over HTTPS are bounded, whatever names a certificate for many may cover', async (t) => {
  const { find } = memoryWorld()
  let refused = 0
  const refuse = (): Promise<never> => {
    refused += 1
    return Promise.reject(new Failure('AuthenticationFailed', 'No.'))
  }
  const bounds = { failedLogins: 3, elapsed: () => 1_000 }
  const remotes = { push: refuse, find, withPullRequests: refuse, issueToken: refuse }
  const guarded = guardRemotes(remotes, bounds)
  const login = { method: 'password', username: 'dev', password: '', secrets: [] } as const
  const push = (host: string, namespace = 'team') => {
    const repository = parseRepositoryAddress(`https://${host}/acme/shop.git`)
    const change = { namespace, repository, id: 'uid.1', files: [] } as unknown as Change
    return guarded.push(change, { ...login, identity: `${refused}` }, ATTEMPT).catch(asFailure)
  }
  const call = (host: string) => {
    const baseURL = `https://${host}/api/v4`
    const repository = parseRepositoryAddress(`https://${host}/acme/shop.git`)
    const { signal } = ATTEMPT
    const target = targetOf('GitCommit', repository, { provider: 'gitlab', baseURL })
    const app = { id: '1', installation: undefined, keyDigest: host } as App
    return guarded.issueToken({ app, target, kind: 'GitCommit', namespace: 'team', signal }).catch(asFailure)
  }
  for (let i = 0; i < 10; i += 1) await push(`n${i}.git.example.com`)
  t.equal(refused, 3)
  t.match(await call('api.git.example.com'), {
    message: /not tried.* other names that may be the same server/,
  })
  t.equal(refused, 3)
  await push('n1.git.example.com', 'another')
  for (const host of ['git.example.com', 'other.example.com', 'n1.forge.example.com', '10.0.0.1', '10.1.0.1'])
    await push(host)
  t.equal(refused, 9, 'no certificate covers these names together')
  for (const host of ['example.com', 'example.org', 'a.com', 'b.com', 'c.com']) await push(host)
  t.equal(refused, 14, 'there are no certificates for all names of a registry')
})
