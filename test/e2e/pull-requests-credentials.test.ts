import t from 'tap'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import type { Dialect } from '../harness/hosts/dialect.ts'
import { github } from '../harness/hosts/github.ts'
import { GITLAB } from '../harness/hosts/gitlab.ts'
import { install, TOKEN } from '../harness/installation.ts'
import type { Stored, Team } from '../harness/installation.ts'
import { applyAs, grant, RULES, until } from '../harness/rights.ts'
import type { HostedRepository } from './pull-request-stage.ts'
import { HEAD, hostRepository, settledPull, waitForPull } from './pull-request-stage.ts'

const OPERATOR = 'tkn-0f-the-Operator-4711'
const BY_SPARE = { secretName: 'spare', tokenKey: 'token' }
const PULL_REQUESTS = { apiGroups: ['commitlet.dev'], resources: ['pullrequests'], verbs: ['*'] } as const

/** Forms of login with one Secret; `git` has a token, a user name and a password. */
const WAYS: Readonly<Record<string, { readonly dialect: Dialect; readonly credentials: object }>> = {
  'a token by its key': { dialect: github, credentials: { secretName: 'git', tokenKey: 'token' } },
  'a token by the default key of the Secret': { dialect: GITLAB, credentials: { secretName: 'git' } },
  'a token with its user name': {
    dialect: github,
    credentials: { secretName: 'git', tokenKey: 'token', usernameKey: 'username' },
  },
  'user name and password': {
    dialect: github,
    credentials: { secretName: 'git', usernameKey: 'username', passwordKey: 'password' },
  },
  'user name and password on GitLab': {
    dialect: GITLAB,
    credentials: { secretName: 'git', usernameKey: 'username', passwordKey: 'password' },
  },
  'a Secret of the type kubernetes.io/basic-auth': { dialect: GITLAB, credentials: { secretName: 'basic' } },
}

function secret(name: string, stringData: object, more: object = {}): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData, ...more }
}

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane, {
    functionEnv: { DEFAULT_GIT_TOKEN: OPERATOR, DEFAULT_GIT_REPOSITORIES: 'localhost:1/nowhere' },
  })
  const { git } = commitlet

  /** A team with Secrets, and a repository whose branch is there. */
  async function hostedTeam(
    dialect: Dialect,
  ): Promise<{ readonly team: Team; readonly hosted: HostedRepository }> {
    const team = await commitlet.createTeam({
      secrets: ['git', 'spare', 'basic', 'bound'],
      developers: ['developer'],
    })
    const tokens = [TOKEN, OPERATOR]
    const hosted = await hostRepository(git, { dialect, path: `${team.namespace}/shop` }, { tokens })
    await hosted.repository.commit(HEAD, { 'settings.yaml': 'colour: blue\n' })
    const basic = { username: 'commitlet', password: TOKEN }
    await team.apply(secret('basic', basic, { type: 'kubernetes.io/basic-auth' }))
    return { team, hosted }
  }

  async function retrying(team: Team): Promise<Stored> {
    await waitForPull(team, 'shop', 'jsonpath={.status.phase}=Retrying')
    return team.get('shop', 'pullrequest')
  }

  for (const [title, { dialect, credentials }] of Object.entries(WAYS)) {
    t.test(title, async (t) => {
      const { team, hosted } = await hostedTeam(dialect)
      await team.apply(hosted.pullRequest('shop', { credentials }))
      const { status } = await settledPull(team, 'shop')
      t.match(status, { phase: 'Succeeded', credentialsUsed: 'Primary', pullRequest: { number: 1 } })
      t.strictSame(hosted.api.violations, [])
    })
  }

  t.test('the fallback is used where the first token is refused or lacks a scope', async (t) => {
    for (const right of [undefined, 'read'] as const) {
      const { team, hosted } = await hostedTeam(github)
      if (right !== undefined) hosted.model.tokens.set('old', right)
      await team.apply(secret('git', { token: 'old' }), secret('spare', { token: TOKEN }))
      await team.apply(hosted.pullRequest('shop', { fallbackCredentials: BY_SPARE }))
      const { status } = await settledPull(team, 'shop')
      t.match(status, { credentialsUsed: 'Fallback', attempts: 1, pullRequest: { number: 1 } })
      t.equal(hosted.model.pulls.length, 1)
    }
  })

  t.test('where both are refused both causes are reported, and the missing scope', async (t) => {
    const { team, hosted } = await hostedTeam(github)
    hosted.model.tokens.set('old', 'read')
    await team.apply(secret('git', { token: 'old' }), secret('spare', { token: 'older' }))
    await team.apply(hosted.pullRequest('shop', { fallbackCredentials: BY_SPARE }))
    t.match(readyOf(await retrying(team)), {
      reason: 'PermissionDenied',
      message: /pull_requests=write.* The fallback credentials failed, too \(AuthenticationFailed\): /,
    })
  })

  t.test('a rate limit is not about credentials: the fallback is not used', async (t) => {
    const { team, hosted } = await hostedTeam(github)
    hosted.api.fail({ kind: 'answer', answer: github.answers.rateLimited(600) })
    // A limit holds for a token, in every namespace.
    hosted.model.tokens.set('tkn-that-is-limited', 'write')
    await team.apply(secret('git', { token: 'tkn-that-is-limited' }), secret('spare', { token: TOKEN }))
    await team.apply(hosted.pullRequest('shop', { fallbackCredentials: BY_SPARE }))
    const stored = await retrying(team)
    t.match(readyOf(stored), { reason: 'RateLimited' })
    const wait = Date.parse(String(stored.status['nextAttemptTime'])) - Date.now()
    t.ok(wait > 500_000 && wait < 700_000, `${wait} ms, as the host says`)
    t.equal(hosted.api.seen.length, 1)
  })

  t.test('a Secret for other repositories is refused before any request', async (t) => {
    const { team, hosted } = await hostedTeam(github)
    const annotations = { 'commitlet.dev/allowed-repositories': `${new URL(git.url).host}/acme` }
    const bound = secret('bound', { token: TOKEN }, { metadata: { name: 'bound', annotations } })
    await team.apply(bound, hosted.pullRequest('shop', { credentials: { secretName: 'bound' } }))
    t.match(readyOf(await settledPull(team, 'shop')), { reason: 'ReferenceForbidden', message: /bound/ })
    t.strictSame(hosted.api.seen, [])
  })

  t.test('`use` alone counts only where the Secret names its repositories', async (t) => {
    const { team, hosted } = await hostedTeam(github)
    await team.apply(...grant('ops', 'ops', [PULL_REQUESTS, RULES.useSecrets]))
    const object = hosted.pullRequest('shop')
    await until('admission', () => applyAs(team, 'ops', object), /created/)
    const stored = await retrying(team)
    t.match(readyOf(stored), { reason: 'ReferenceForbidden', message: /\(`use` counts only while the / })
    t.strictSame(hosted.api.seen, [])
    const annotation = `commitlet.dev/allowed-repositories=${new URL(git.url).host}/${team.namespace}`
    await team.kubectl(['annotate', 'secret', 'git', annotation])
    await team.kubectl(['annotate', 'pullrequest', 'shop', 'commitlet.dev/requested-at=now', '--as=ops'])
    t.match((await settledPull(team, 'shop')).status, { phase: 'Succeeded', pullRequest: { number: 1 } })
    const fork = await applyAs(team, 'ops', hosted.pullRequest('fork', { headBranch: 'dev:settings' }))
    t.match(fork.stderr, /spec\.headBranch is the branch of a fork, for which you need the right to `get`/)
  })

  t.test(
    "the operator's default works for users with the right, in the repositories of the namespace",
    async (t) => {
      await commitlet.function.stop()
      const places = `${new URL(git.url).host}/{namespace}`
      await commitlet.startFunction({ DEFAULT_GIT_REPOSITORIES: places })
      const { team, hosted } = await hostedTeam(github)
      const other = await hostRepository(git, { dialect: github, path: `${team.namespace}-evil/shop` })
      const defaulted = { credentials: undefined }
      const object = hosted.pullRequest('shop', defaulted)
      const denied = /developer may not `use` the operator's default cred/
      await until('denial', () => applyAs(team, 'developer', object), denied)
      const rule = { apiGroups: ['commitlet.dev'], resources: ['defaultcredentials'], verbs: ['use'] }
      await team.apply(...grant('defaults', 'developer', [rule]))
      await until('admission', () => applyAs(team, 'developer', object), /created/)
      t.match((await settledPull(team, 'shop')).status, {
        phase: 'Succeeded',
        credentialsUsed: 'Default',
        pullRequest: { number: 1 },
      })
      await applyAs(team, 'developer', other.pullRequest('evil', defaulted))
      t.match(readyOf(await settledPull(team, 'evil')), { reason: 'ReferenceForbidden' })
      t.strictSame(other.api.seen, [])
    },
  )
})
