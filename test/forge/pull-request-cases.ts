import type { Test } from 'tap'
import { elements, member } from '../../functions/domain/json-value.ts'
import { configMap, gitCommit, type Installation, type Team } from '../harness/installation.ts'
import { pullRequest, requestAgain, settledPull } from '../e2e/pull-request-stage.ts'
import { OWNER, type Logins } from './forge-stage.ts'
import { ended } from './ended.ts'
import { API_PATH } from './gitea-api.ts'
import type { Gitea, GiteaUser } from './gitea.ts'

const BY_TOKEN = { secretName: 'token', tokenKey: 'token' }

export interface PullRequestForge {
  readonly gitea: Gitea
  readonly commitlet: Installation
  readonly logins: Logins
  readonly owner: GiteaUser
}

/** Repositories and Secrets with which no pull request is opened, and the reason. */
const REFUSED: Readonly<
  Record<string, { readonly spec: object; readonly reason: string; readonly says: RegExp }>
> = {
  archived: { spec: { name: 'old' }, reason: 'PermissionDenied', says: /archived/ },
  empty: { spec: { name: 'empty' }, reason: 'HeadNotFound', says: /branch/ },
  unreviewed: { spec: { name: 'unreviewed' }, reason: 'PullRequestRejected', says: /switched off/ },
  missing: { spec: { name: 'nothing' }, reason: 'RepositoryNotFound', says: /not visible/ },
  renamed: { spec: { name: 'before' }, reason: 'RepositoryNotFound', says: /moved.*acme\/renamed/ },
  'no-head': { spec: { name: 'renamed', headBranch: 'later' }, reason: 'HeadNotFound', says: /later/ },
  'no-base': { spec: { name: 'renamed', baseBranch: 'later' }, reason: 'HeadNotFound', says: /later/ },
  'no-commits': {
    spec: { name: 'open', headBranch: 'main', baseBranch: 'settings' },
    reason: 'NothingToMerge',
    says: /main/,
  },
  'wrong-token': { spec: { name: 'renamed', secret: 'wrong' }, reason: 'AuthenticationFailed', says: /401/ },
  'read-token': {
    spec: { name: 'renamed', secret: 'read' },
    reason: 'PermissionDenied',
    says: /write:repository/,
  },
  stranger: {
    spec: { name: 'renamed', secret: 'stranger' },
    reason: 'RepositoryNotFound',
    says: /not visible/,
  },
}

/** Pull requests on the real Gitea, by token and by password, and what it refuses. */
export async function pullRequestTests(
  t: Test,
  { gitea, commitlet, logins, owner }: PullRequestForge,
): Promise<void> {
  const secrets: Readonly<Record<string, object>> = {
    token: { token: logins.token },
    password: { username: OWNER, password: logins.password },
    wrong: { token: 'wrong' },
    read: { token: logins.readToken },
    stranger: { token: logins.strangersToken },
    key: { 'ssh-privatekey': logins.key, known_hosts: gitea.knownHosts },
  }
  const team = await commitlet.createTeam({ secrets: Object.keys(secrets) })
  for (const [name, stringData] of Object.entries(secrets)) {
    const path = `/api/v1/namespaces/${team.namespace}/secrets`
    await commitlet.plane.api.need('POST', path, { metadata: { name }, stringData })
  }
  const remote = (name: string): Readonly<Record<string, unknown>> => ({
    repository: `${gitea.ingress.origin}/${OWNER}/${name}.git`,
    provider: 'gitea',
    providerConfig: { baseURL: gitea.ingress.origin + API_PATH },
    credentials: BY_TOKEN,
  })
  const pullsOf = async (name: string): Promise<readonly unknown[]> =>
    elements(await owner.ask('GET', `/repos/${OWNER}/${name}/pulls?state=all`))

  t.test('one is opened, found again, updated, and left alone once it is merged', async (t) => {
    await team.apply(pullRequest('lab', remote('lab')))
    const url = `${gitea.ingress.origin}/${OWNER}/lab/pulls/1`
    const opened = {
      phase: 'Succeeded',
      credentialsUsed: 'Primary',
      pullRequest: { number: 1, state: 'open', url },
    }
    t.match((await settledPull(team, 'lab')).status, opened)
    t.match((await requestAgain(team, 'lab')).status, { pullRequest: { number: 1, state: 'open' } })
    await team.apply(pullRequest('lab', { ...remote('lab'), title: 'Another title' }))
    await settledPull(team, 'lab')
    t.match(await pullsOf('lab'), [{ title: 'Another title', state: 'open' }])
    await owner.ask('POST', `/repos/${OWNER}/lab/pulls/1/merge`, { Do: 'merge' })
    t.match((await requestAgain(team, 'lab', 'later')).status, { pullRequest: { state: 'merged' } })
    t.equal((await pullsOf('lab')).length, 1)
  })

  t.test('user name and password open one too, to a protected branch, and it may be closed', async (t) => {
    const credentials = { secretName: 'password', usernameKey: 'username', passwordKey: 'password' }
    await team.apply(pullRequest('guarded', { ...remote('guarded'), credentials }))
    t.match((await settledPull(team, 'guarded')).status, { pullRequest: { number: 1, state: 'open' } })
    await owner.ask('PATCH', `/repos/${OWNER}/guarded/pulls/1`, { state: 'closed' })
    t.match((await requestAgain(team, 'guarded')).status, { pullRequest: { state: 'closed' } })
  })

  t.test('one waits for its branch, which a GitCommit with an SSH key makes', async (t) => {
    await team.apply(pullRequest('open', { ...remote('open'), headBranch: 'blue' }))
    const early = await ended(team, 'open', 'pullrequest')
    t.match(early, { status: 'False', reason: 'HeadNotFound' })
    const commit = { branch: 'blue', credentials: { secretName: 'key' } }
    await team.apply(configMap(), gitCommit('blue', `${gitea.sshOrigin}/${OWNER}/open.git`, commit))
    t.match(await ended(team, 'blue'), { status: 'True' })
    t.match((await requestAgain(team, 'open')).status, { pullRequest: { number: 1, state: 'open' } })
  })

  t.test('labels, reviewers and assignees are added, and strangers are named', async (t) => {
    const path = `/repos/${OWNER}/details`
    await owner.ask('POST', '/user/repos', {
      name: 'details',
      private: true,
      auto_init: true,
      default_branch: 'main',
    })
    await owner.ask('POST', `${path}/branches`, { new_branch_name: 'settings', old_branch_name: 'main' })
    await owner.ask('POST', `${path}/contents/a.yaml`, { content: '', message: 'A file', branch: 'settings' })
    await owner.ask('POST', `${path}/labels`, { name: 'urgent', color: '#ff0000' })
    await gitea.createUser('dev')
    await owner.ask('PUT', `${path}/collaborators/dev`, { permission: 'write' })
    const details = { labels: ['urgent'], reviewers: ['dev', 'nobody'], assignees: ['dev'] }
    await team.apply(pullRequest('details', { ...remote('details'), ...details }))
    const { status } = await settledPull(team, 'details')
    t.match(status, { phase: 'Succeeded' })
    const applied = elements(status['conditions']).find((one) => member(one, 'type') === 'DetailsApplied')
    t.match(applied, { status: 'False', message: /nobody/ })
    const people = [{ login: 'dev' }]
    t.match(await pullsOf('details'), [
      { labels: [{ name: 'urgent' }], requested_reviewers: people, assignees: people },
    ])
  })

  t.test('what Gitea refuses has its own reason and a sentence, and nothing is opened', async (t) => {
    await applyAll(team, remote)
    for (const [name, { reason, says }] of Object.entries(REFUSED)) {
      t.match(await ended(team, name, 'pullrequest'), { status: 'False', reason, message: says }, name)
    }
    t.same(await pullsOf('renamed'), [])
  })
}

async function applyAll(
  team: Team,
  remote: (name: string) => Readonly<Record<string, unknown>>,
): Promise<void> {
  for (const [name, { spec }] of Object.entries(REFUSED)) {
    const {
      name: repository,
      secret = 'token',
      ...rest
    } = spec as { readonly name: string; readonly secret?: string }
    const credentials = { secretName: secret, tokenKey: 'token' }
    await team.apply(pullRequest(name, { ...remote(repository), ...rest, credentials }))
  }
}
