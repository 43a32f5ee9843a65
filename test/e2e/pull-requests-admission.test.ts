import t from 'tap'
import { readyOf } from '../harness/conditions.ts'
import type { Ran } from '../harness/control-plane.ts'
import { sentencesIn } from '../harness/denials.ts'
import { github } from '../harness/hosts/github.ts'
import type { Team } from '../harness/installation.ts'
import { kubectlApplyAs } from '../harness/rights.ts'
import { withCommitlet } from '../harness/shared-installation.ts'
import { hostRepository, pullRequest, settledPull } from './pull-request-stage.ts'

const ANYWHERE = { repository: 'https://git.example.com/acme/shop' }
const ON_GITLAB = { repository: 'https://gitlab.com/acme/shop' }
const ON_BITBUCKET = { repository: 'https://bitbucket.org/acme/shop' }

/** What a spec is refused for, all in one answer; ORIGIN stands for that of the Git server. */
const REFUSED: readonly {
  readonly title: string
  readonly spec: Readonly<Record<string, unknown>>
  readonly says: readonly string[]
}[] = [
  {
    title: 'the branch of a fork on GitLab',
    spec: { ...ON_GITLAB, headBranch: 'dev:settings' },
    says: [
      'spec.headBranch asks for the branch of a fork, which is not supported on gitlab yet; write the name of a branch of the repository itself.',
    ],
  },
  {
    title: 'labels, assignees and a user name on Bitbucket',
    spec: { ...ON_BITBUCKET, labels: ['settings'], reviewers: ['dev'], assignees: ['dev'] },
    says: [
      'spec.labels cannot be set on bitbucket; leave it out.',
      'spec.assignees cannot be set on bitbucket; leave it out.',
      'spec.reviewers[0] names a user in a form that bitbucket does not use; write a UUID in braces or an account ID of Atlassian.',
    ],
  },
  {
    title: 'an unknown host',
    spec: ANYWHERE,
    says: [
      'spec.provider is missing; git.example.com is not a public host, so a pull request needs it.',
      'spec.providerConfig.baseURL is missing; git.example.com is not a public host, so a pull request needs it.',
    ],
  },
  {
    title: 'the API of another host',
    spec: { ...ANYWHERE, provider: 'github', providerConfig: { baseURL: 'ORIGIN/api/v3' } },
    says: [
      'spec.providerConfig.baseURL does not belong to the repository; write https://git.example.com/api/v3, with',
    ],
  },
  {
    title: 'a slash at the end of the API',
    spec: {
      ...ANYWHERE,
      provider: 'gitea',
      providerConfig: { baseURL: 'https://git.example.com/api/v1/' },
    },
    says: ['spec.providerConfig.baseURL ends with a slash; write https://git.example.com/api/v1 without it.'],
  },
  {
    title: 'a branch that joins itself',
    spec: { ...ON_GITLAB, headBranch: 'main' },
    says: [
      'spec.headBranch is the same branch as spec.baseBranch; write the name of the branch that holds the changes.',
    ],
  },
  {
    title: 'a page of GitLab, and names that it does not have',
    spec: {
      repository: 'https://gitlab.com/acme/web/shop/-/merge_requests/1',
      labels: ['in, out'],
      reviewers: ['@dev'],
    },
    says: [
      'spec.repository goes on after the path of a repository, as the address of a page does; write https://gitlab.com/acme/web/shop instead.',
      'spec.labels[0] names a label in a form that gitlab does not use; write names without a comma.',
      'spec.reviewers[0] names a user in a form that gitlab does not use; write user names without "@", and not those of teams or groups.',
    ],
  },
  {
    title: 'another API than that of the public host',
    spec: { ...ON_GITLAB, providerConfig: { baseURL: 'ORIGIN/api/v4' } },
    says: ['spec.providerConfig.baseURL does not belong to the repository; write https://gitlab.com/api/v4.'],
  },
  {
    title: 'another provider than that of the public host',
    spec: { ...ON_GITLAB, provider: 'github' },
    says: ['spec.provider is "github", but gitlab.com is gitlab; leave it out.'],
  },
  {
    title: 'a private key alone for the API',
    spec: {
      repository: 'git@github.com:acme/shop.git',
      credentials: { secretName: 'git', privateKeyKey: 'key' },
    },
    says: [
      'spec.credentials.privateKeyKey is not used for an API, which takes a token; name tokenKey, or usernameKey and passwordKey.',
    ],
  },
]

withCommitlet(t, async (t, commitlet) => {
  const { plane } = commitlet
  const apply = (team: Team, object: object): Promise<Ran> => team.applyAs(undefined, object)
  const ADMIN = ['--as-group=system:masters', '--validate=false'] as const

  t.test('what the host does not support is denied at apply, every field error at once', async (t) => {
    const team = await commitlet.createTeam()
    const before = commitlet.git.requests.length
    for (const { title, spec, says } of REFUSED) {
      const written = JSON.stringify(spec).replace('ORIGIN', commitlet.git.url)
      const object = pullRequest('refused', JSON.parse(written) as Readonly<Record<string, unknown>>)
      // What kubectl prints of several causes.
      const ran = says.length > 2 ? kubectlApplyAs(team, 'admin', object, ...ADMIN) : apply(team, object)
      const { code, stderr } = await ran
      t.equal(code, 1, title)
      const sentences = sentencesIn(stderr)
      for (const said of says)
        t.ok(
          sentences.some((found) => found.startsWith(said)),
          `${title}: ${said}`,
        )
      t.equal(sentences.length, says.length, `${title}: nothing else`)
    }
    t.equal((await team.kubectl(['get', 'commitlet', '-o', 'name'])).stdout, '', 'nothing is stored')
    t.strictSame(commitlet.git.requests.slice(before), [], 'and nobody was asked')
  })

  t.test('its branches cannot be changed, its title and body can', async (t) => {
    const team = await commitlet.createTeam()
    const hosted = await hostRepository(commitlet.git, { dialect: github, path: `${team.namespace}/shop` })
    await hosted.repository.commit('settings', { 'settings.yaml': 'colour: blue\n' })
    await team.apply(hosted.pullRequest('shop'))
    await settledPull(team, 'shop')
    const table = {
      repository: `${commitlet.git.url}/${team.namespace}/other.git`,
      baseBranch: 'next',
      headBranch: 'other',
    }
    const asked = hosted.api.seen.length
    for (const [field, value] of Object.entries(table)) {
      const { code, stderr } = await apply(team, hosted.pullRequest('shop', { [field]: value }))
      t.equal(code, 1, field)
      t.match(stderr, `${field} cannot be changed: make another PullRequest.`)
    }
    t.equal(hosted.api.seen.length, asked)
    t.match(await apply(team, hosted.pullRequest('shop', { title: 'Another' })), { code: 0 })
    t.match(readyOf(await settledPull(team, 'shop')), { message: /^Updated title/ })
  })

  t.test('a forbidden address of an API is reported before any request', async (t) => {
    const origins = ['https://169.254.169.254', 'https://[fe80::1]', plane.url]
    for (const origin of origins) {
      const team = await commitlet.createTeam()
      const repository = `${origin}/acme/shop.git`
      const providerConfig = { baseURL: `${origin}/api/v3` }
      await team.apply(pullRequest('shop', { repository, provider: 'github', providerConfig }))
      const stored = await settledPull(team, 'shop')
      t.match(stored.status, { phase: 'Failed', attempts: 1, pullRequest: undefined }, origin)
      t.match(readyOf(stored), {
        reason: 'AddressForbidden',
        message:
          / is at an address that Commitlet may not connect to; name a repository on another host, or ask /,
      })
    }
  })
})
