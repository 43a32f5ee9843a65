import { readFile } from 'node:fs/promises'
import t from 'tap'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import type { Fault } from '../harness/git-faults.ts'
import { configMap, gitCommit, install, TOKEN } from '../harness/installation.ts'
import type { Stored, Team } from '../harness/installation.ts'
import { processesIn } from '../harness/processes.ts'
import { applyAs, grant, RULES, until } from '../harness/rights.ts'
import { waitFor } from '../harness/wait.ts'

const MINUTE = 60_000
const OPERATOR = 'tkn-0f-the-Operator-4711'
const RBAC = 'rbac.authorization.k8s.io'
const BY_TOKEN = { secretName: 'git', tokenKey: 'token' }
const BY_SPARE = { secretName: 'spare', tokenKey: 'token' }
const BOTH = { credentials: BY_TOKEN, fallbackCredentials: BY_SPARE }

function secret(name: string, token: string, annotations = {}): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, annotations }, stringData: { token } }
}

withControlPlane(t, async (t, plane) => {
  const folder = t.testdir({})
  const commitlet = await install(t, plane, {
    users: [{ password: TOKEN }, { password: OPERATOR }],
    functionEnv: { TMPDIR: folder },
    webhookEnv: { SWEEP_INTERVAL: '1' },
  })
  const { git } = commitlet
  let running = commitlet.function
  const defaults = {
    DEFAULT_GIT_TOKEN: OPERATOR,
    DEFAULT_GIT_REPOSITORIES: `localhost:${git.port}/{namespace}`,
  }

  /** A team with the ConfigMap, and with the Secret `spare` beside `git`. */
  async function teamWith(tokens: { readonly git: string; readonly spare: string }): Promise<Team> {
    const team = await commitlet.createTeam({ secrets: ['git', 'spare'] })
    await team.apply(configMap(), secret('git', tokens.git), secret('spare', tokens.spare))
    return team
  }

  /** Failed, and retried later. */
  async function retrying(team: Team, name = 'shop'): Promise<Stored> {
    await team.waitFor(name, 'jsonpath={.status.phase}=Retrying', '60s')
    return team.get(name)
  }

  t.test(
    'the fallback is used where the first credentials are refused, and the status says so',
    async (t) => {
      const team = await teamWith({ git: 'expired', spare: TOKEN })
      const { url } = await git.createRepository(team.namespace)
      await team.apply(gitCommit('shop', url, BOTH))
      t.match((await team.settled('shop')).status, { phase: 'Succeeded', credentialsUsed: 'Fallback' })
    },
  )

  t.test('where both are refused, both causes are reported', async (t) => {
    const team = await teamWith({ git: 'expired', spare: 'expired-too' })
    const { url } = await git.createRepository(team.namespace)
    await team.apply(gitCommit('shop', url, BOTH))
    t.match(readyOf(await retrying(team)), {
      reason: 'AuthenticationFailed',
      message: /\(401\).*\. The fallback credentials failed, too \(AuthenticationFailed\): .*\(401\).*\.$/,
    })
  })

  for (const [title, fault, reason] of [
    ['a network that fails', { kind: 'drop' }, 'NetworkError'],
    ['a host that asks to wait', { kind: 'status', status: 429 }, 'RateLimited'],
  ] as const satisfies readonly (readonly [string, Fault, string])[]) {
    t.test(`${title} is not about credentials: the fallback is not used`, async (t) => {
      const team = await teamWith({ git: TOKEN, spare: 'expired' })
      const { url } = await git.createRepository(team.namespace)
      const end = git.faults.add(fault, { repository: team.namespace })
      await team.apply(gitCommit('shop', url, BOTH))
      const { message, ...ready } = readyOf(await retrying(team))
      t.match(ready, { reason })
      t.notMatch(message, 'fallback')
      end()
      await team.kubectl(['annotate', 'gitcommit', 'shop', 'commitlet.dev/requested-at=now'])
      t.match((await team.settled('shop')).status, { credentialsUsed: 'Primary' })
    })
  }

  t.test('a fixed Secret is used at once for a resource that is requested again', async (t) => {
    const team = await teamWith({ git: 'expired', spare: '' })
    const { url } = await git.createRepository(team.namespace)
    await team.apply(gitCommit('shop', url))
    t.match(readyOf(await retrying(team)), { reason: 'AuthenticationFailed' })
    await team.apply(secret('git', TOKEN))
    await team.kubectl(['annotate', 'gitcommit', 'shop', 'commitlet.dev/requested-at=now'])
    t.match((await team.settled('shop')).status, { phase: 'Succeeded', attempts: 1 })
  })

  t.test(
    'a Secret that is created later is used for a user who may only use it, without a request',
    async (t) => {
      const team = await commitlet.createTeam({ secrets: ['later'] })
      const rules = [RULES.gitCommits, RULES.readConfigMaps, RULES.useSecrets]
      await team.apply(configMap(), ...grant('ops', 'ops', rules))
      const { url } = await git.createRepository(team.namespace)
      const object = gitCommit('shop', url, { credentials: { secretName: 'later' } })
      await until('admission', () => applyAs(team, 'ops', object), /created/)
      const refused = await retrying(team)
      t.match(readyOf(refused), { reason: 'ReferenceForbidden', message: /\(`use` counts only while the / })
      const wait = Date.parse(String(refused.status['nextAttemptTime'])) - Date.now()
      t.ok(wait > 4 * MINUTE && wait < 6 * MINUTE, `${wait} ms until it is looked at again`)
      await team.apply(secret('later', TOKEN, { 'commitlet.dev/allowed-repositories': new URL(url).host }))
      // The status says that the five minutes are over.
      const nextAttemptTime = new Date(Date.now() - MINUTE).toISOString().replace(/\.\d+/, '')
      const patch = JSON.stringify({ status: { nextAttemptTime } })
      await team.kubectl(['patch', 'gitcommit', 'shop', '--subresource=status', '--type=merge', '-p', patch])
      t.match((await team.settled('shop')).status, { phase: 'Succeeded', attempts: 2 })
    },
  )

  t.test('without default credentials of the operator, the status says so', async (t) => {
    const team = await commitlet.createTeam()
    await team.apply(configMap(), gitCommit('shop', `${git.url}/x/y`, { credentials: undefined }))
    t.match(readyOf(await retrying(team)), { reason: 'CredentialsInvalid', message: /DEFAULT_GIT_TOKEN/ })
  })

  t.test(
    'the default credentials work for users with the right, in the repositories of their namespace',
    async (t) => {
      await running.stop()
      running = await commitlet.startFunction(defaults)
      const team = await commitlet.createTeam({ developers: ['developer'] })
      const own = await git.createRepository(`${team.namespace}/config`)
      const other = await git.createRepository(`${team.namespace}-evil/config`)
      await team.apply(configMap())
      const commit = (name: string, url: string): object => gitCommit(name, url, { credentials: undefined })
      const denied = /spec\.credentials is missing, and developer may not `use` the operator's default cred/
      await until('denial', () => applyAs(team, 'developer', commit('own', own.url)), denied)
      const binding = {
        apiVersion: `${RBAC}/v1`,
        kind: 'RoleBinding',
        metadata: { name: 'defaults' },
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'commitlet-default-credentials-user' },
        subjects: [{ apiGroup: RBAC, kind: 'User', name: 'developer' }],
      }
      await team.apply(binding)
      await until('admission', () => applyAs(team, 'developer', commit('own', own.url)), /created/)
      t.match((await team.settled('own')).status, { phase: 'Succeeded', credentialsUsed: 'Default' })
      await applyAs(team, 'developer', commit('other', other.url))
      t.match(readyOf(await team.settled('other')), {
        reason: 'ReferenceForbidden',
        message: `The operator's default credentials may not be used for ${other.url} in the namespace ${team.namespace}; name a Secret in spec.credentials, or ask your Commitlet operator.`,
      })
      t.notOk(
        git.requests.some(({ repository }) => repository === other.name),
        'nothing was sent there',
      )
      t.notMatch(running.lines.join('\n'), OPERATOR)
    },
  )

  t.test('a process that logs in for a tenant does not know the token of the operator', async (t) => {
    await running.stop()
    running = await commitlet.startFunction({ ...defaults, GIT_ENGINE: 'binary' })
    const team = await commitlet.createTeam()
    const repository = await git.createRepository(team.namespace)
    const seen = Promise.withResolvers<undefined>()
    const fault = { kind: 'hold', when: 'before', until: seen.promise } as const
    git.faults.add(fault, { repository: repository.name, exchange: 'receive-pack' })
    await team.apply(configMap(), gitCommit('shop', repository.url))
    const pushing = async () =>
      (await processesIn(folder)).find(({ command }) => command.startsWith('git push'))
    const push = await waitFor('push that waits', pushing, MINUTE)
    const children = await processesIn(folder)
    for (const { pid, command } of children) {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
      t.notMatch(environment, OPERATOR, command)
      t.notMatch(environment, 'DEFAULT_GIT', command)
    }
    const environment = await readFile(`/proc/${push.pid}/environ`, 'utf8')
    t.match(environment, 'GIT_CONFIG', 'an environment that is there is seen')
    seen.resolve(undefined)
    t.match((await team.settled('shop')).status, { phase: 'Succeeded', credentialsUsed: 'Primary' })
  })
})
