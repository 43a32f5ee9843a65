import t from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import { BITBUCKET } from '../harness/hosts/bitbucket.ts'
import { GITEA } from '../harness/hosts/gitea.ts'
import { github } from '../harness/hosts/github.ts'
import { GITLAB } from '../harness/hosts/gitlab.ts'
import { configMap, gitCommit, TOKEN } from '../harness/installation.ts'
import { HEAD, hostRepository, requestAgain, settledPull, waitForPull } from './pull-request-stage.ts'
import type { Site } from './pull-request-stage.ts'
import { installAmongPublicHosts } from './public-hosts.ts'

/** An API token of Bitbucket's goes with the e-mail address of its account; Git takes both as they are. */
const BY_PASSWORD = { secretName: 'mail', usernameKey: 'username', passwordKey: 'password' }
const MAIL = {
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/basic-auth',
  metadata: { name: 'mail' },
  stringData: { username: 'dev@example.com', password: TOKEN },
}

/** Each host as its users meet it; the path of a repository begins with the namespace. */
const SITES: readonly (Omit<Site, 'path'> & {
  readonly title: string
  readonly path: string
  /** After the address of the repository. */
  readonly web: string
  readonly asks: string
  readonly spec?: Readonly<Record<string, unknown>>
})[] = [
  {
    title: 'github.com',
    dialect: github,
    path: 'shop',
    publicly: { origin: 'https://github.com', apiPath: '' },
    web: '/pull/1',
    asks: 'api.github.com:443',
  },
  {
    title: 'gitlab.com with nested groups',
    dialect: GITLAB,
    path: 'web/shop',
    publicly: { origin: 'https://gitlab.com', apiPath: '/api/v4' },
    web: '/-/merge_requests/1',
    asks: 'gitlab.com:443',
  },
  {
    title: 'bitbucket.org by e-mail address and API token',
    dialect: BITBUCKET,
    path: 'shop',
    publicly: { origin: 'https://bitbucket.org', apiPath: '/2.0' },
    web: '/pull-requests/1',
    asks: 'api.bitbucket.org:443',
    spec: { credentials: BY_PASSWORD },
  },
  {
    title: 'GitHub Enterprise Server',
    dialect: github,
    path: 'shop',
    web: '/pull/1',
    asks: 'localhost:PORT',
  },
  {
    title: 'GitLab at a path of its host, with nested groups',
    dialect: GITLAB,
    path: 'web/front/shop',
    prefix: '/gitlab',
    web: '/-/merge_requests/1',
    asks: 'localhost:PORT',
  },
  {
    title: 'Gitea at a path of its host, by user name and token',
    dialect: GITEA,
    path: 'shop',
    prefix: '/tea',
    web: '/pulls/1',
    asks: 'localhost:PORT',
    spec: { credentials: BY_PASSWORD },
  },
]

withControlPlane(t, async (t, plane) => {
  const { server, proxy, commitlet } = await installAmongPublicHosts(t, plane)

  for (const { title, path, web, asks, spec = {}, ...site } of SITES) {
    t.test(`${title}: a commit to a new branch and then its pull request, through a proxy`, async (t) => {
      const team = await commitlet.createTeam({ secrets: ['git', 'mail'] })
      const hosted = await hostRepository(server, { ...site, path: `${team.namespace}/${path}` })
      const { model, api, address } = hosted
      const before = proxy.connects.length
      await team.apply(MAIL, configMap(), gitCommit('shop', address, { branch: HEAD, ...spec }))
      await team.waitFor('shop', 'condition=Ready')
      await team.apply(hosted.pullRequest('shop', spec))
      await waitForPull(team, 'shop', 'condition=Ready')
      t.match((await settledPull(team, 'shop')).status, {
        phase: 'Succeeded',
        credentialsUsed: 'Primary',
        pullRequest: { number: 1, state: 'open', url: address.replace(/\.git$/, '') + web },
      })
      t.match((await requestAgain(team, 'shop')).status, { pullRequest: { number: 1, state: 'open' } })
      await team.apply(hosted.pullRequest('shop', { ...spec, title: 'Another title' }))
      await settledPull(team, 'shop')
      t.match(model.pulls, [{ title: 'Another title', body: /^Opened from the cluster\.\n/, state: 'open' }])
      t.equal(model.pulls.length, 1)
      Object.assign(model.pulls[0] ?? {}, { state: 'merged' })
      t.match((await requestAgain(team, 'shop', 'later')).status, { pullRequest: { state: 'merged' } })
      t.ok(proxy.connects.slice(before).includes(asks.replace('PORT', String(server.port))))
      t.equal(hosted.writes().length, 2)
      t.strictSame(api.violations, [])
    })
  }

  t.test('an SSH address with a token for the API', async (t) => {
    const team = await commitlet.createTeam()
    const path = `${team.namespace}/shop`
    const publicly = { origin: 'https://github.com', apiPath: '' }
    const hosted = await hostRepository(server, { dialect: github, path, publicly })
    await hosted.repository.commit(HEAD, { 'settings.yaml': 'colour: blue\n' })
    await team.apply(hosted.pullRequest('shop', { repository: `git@github.com:${path}.git` }))
    t.match((await settledPull(team, 'shop')).status, {
      phase: 'Succeeded',
      pullRequest: { number: 1, url: `https://github.com/${path}/pull/1` },
    })
  })
})
