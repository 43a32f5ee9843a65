import t from 'tap'
import { startGitLab } from './gitlab-stage.ts'
import { BRANCHES, DRAFT } from './port-stage.ts'
import type { PortStage } from './port-stage.ts'

const PROJECT = '/projects/acme%2Fshop'

function create({ failure }: PortStage): ReturnType<PortStage['failure']> {
  return failure((pullRequests) => pullRequests.create(DRAFT))
}

t.test('a branch that is missing is named, after a look at it', async (t) => {
  const stage = await startGitLab(t)
  const missing = (branches: Partial<typeof BRANCHES>): ReturnType<PortStage['failure']> =>
    stage.failure((pullRequests) => pullRequests.create({ ...DRAFT, branches: { ...BRANCHES, ...branches } }))
  t.match(await missing({ head: 'later' }), { reason: 'HeadNotFound', message: /the branch later \(yet\)/ })
  t.match(await missing({ base: 'never' }), { reason: 'HeadNotFound', message: /the branch never \(yet\)/ })
  t.match(await missing({ head: 'later', base: 'never' }), { message: /the branch later \(yet\)/ })
  t.strictSame(stage.lines(), [
    `GET ${PROJECT}/repository/commits`,
    `GET ${PROJECT}/repository/branches/later`,
    `GET ${PROJECT}/repository/commits`,
    `GET ${PROJECT}/repository/branches/settings`,
    `GET ${PROJECT}/repository/branches/never`,
    `GET ${PROJECT}/repository/commits`,
    `GET ${PROJECT}/repository/branches/later`,
  ])
})

t.test('two branches without a commit between them are not opened, though GitLab would', async (t) => {
  const stage = await startGitLab(t)
  stage.model.branches.set('settings', 1)
  t.match(await create(stage), { reason: 'NothingToMerge' })
  t.strictSame(stage.model.pulls, [])
})

t.test('one commit is asked for, of the branches of that name alone', async (t) => {
  const { host, work } = await startGitLab(t)
  await work((pullRequests) => pullRequests.create(DRAFT))
  const query = new URLSearchParams(host.seen[0]?.path.split('?')[1])
  t.strictSame(Object.fromEntries(query), {
    ref_name: 'refs/heads/main..refs/heads/settings',
    per_page: '1',
    page: '1',
  })
})

t.test('a repository without a first commit waits for the head', async (t) => {
  const stage = await startGitLab(t)
  const answer = { status: 404, body: { message: '404 Repository Not Found' } }
  stage.host.fail({ kind: 'answer', answer })
  stage.host.fail({ kind: 'answer', answer })
  t.match(await create(stage), { reason: 'HeadNotFound', message: /the branch settings/ })
})

t.test('code that the token must not read is no missing branch', async (t) => {
  const stage = await startGitLab(t)
  stage.host.fail({ kind: 'answer', answer: { status: 403, body: { message: '403 Forbidden' } } })
  t.match(await create(stage), { reason: 'PermissionDenied' })
  t.strictSame(stage.lines(), [`GET ${PROJECT}/repository/commits`, `GET ${PROJECT}`])
})

t.test('a project that is out of sight is no missing branch', async (t) => {
  const stage = await startGitLab(t)
  const answer = { status: 404, body: { message: '404 Project Not Found' } }
  stage.host.fail({ kind: 'answer', answer })
  t.match(await create(stage), { reason: 'RepositoryNotFound' })
  t.equal(stage.lines().length, 1)
})

t.test('behind a bare 403 it is seen that the project takes no merge requests', async (t) => {
  const stage = await startGitLab(t)
  stage.host.fail({ kind: 'answer', answer: { status: 403, body: { message: '403 Forbidden' } } })
  stage.host.fail(
    {
      kind: 'changed',
      change: (answer) => ({ ...answer, body: { merge_requests_access_level: 'disabled' } }),
    },
    (_method, path) => path === PROJECT,
  )
  const found = await stage.failure((pullRequests) => pullRequests.find(BRANCHES, 'open'))
  t.match(found, { reason: 'PullRequestRejected', message: /merge requests are disabled in the project/ })
})

t.test('a look that fails as well leaves what was said first', async (t) => {
  const stage = await startGitLab(t)
  const forbidden = { status: 403, body: { message: '403 Forbidden' } }
  stage.host.fail({ kind: 'answer', answer: forbidden })
  stage.host.fail({ kind: 'answer', answer: forbidden })
  t.match(await create(stage), { reason: 'PermissionDenied', message: /the right to open pull requests/ })
  t.equal(stage.lines().length, 2)
})

t.test('of a project that was renamed the new path is told, and nothing else is asked there', async (t) => {
  const stage = await startGitLab(t)
  stage.model.movedTo = ['acme', 'tools', 'store']
  const message = /has moved to acme\/tools\/store, /
  const found = await stage.failure((pullRequests) => pullRequests.find(BRANCHES, 'open'))
  t.match(found, { reason: 'RepositoryNotFound', message })
  const shown = { number: 1, url: 'https://x', state: 'open', title: 'a', body: '' } as const
  const edited = await stage.failure((pullRequests) => pullRequests.update(shown, { title: 'b', body: '' }))
  t.match(edited, { reason: 'RepositoryNotFound', message })
  t.strictSame(stage.lines(), [
    `GET ${PROJECT}/merge_requests`,
    'GET /projects/42',
    `PUT ${PROJECT}/merge_requests/1`,
    `GET ${PROJECT}`,
    'GET /projects/42',
  ])
})

for (const location of [
  'https://evil.example/api/v4/projects/42',
  '/users/sign_in',
  '/api/v4/projects/acme%2Fstore',
  '',
]) {
  t.test(`a redirect to ${JSON.stringify(location)} is followed in no way`, async (t) => {
    const stage = await startGitLab(t)
    stage.host.fail({ kind: 'answer', answer: { status: 301, headers: { location }, body: '' } })
    t.match(await create(stage), { reason: 'RepositoryNotFound', message: /has moved to another address/ })
    t.equal(stage.lines().length, 1)
  })
}

t.test('a new path that holds what must not be shown is masked', async (t) => {
  const stage = await startGitLab(t)
  stage.model.movedTo = ['acme', 'good-token']
  const found = await stage.failure((pullRequests) => pullRequests.find(BRANCHES, 'open'))
  t.match(found.message, /has moved to acme\/\*\*\*, /)
})
