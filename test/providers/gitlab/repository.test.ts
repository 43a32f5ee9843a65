import t from 'tap'
import type { HostAnswer } from '../../harness/hosts/dialect.ts'
import { addPull } from '../../harness/hosts/model.ts'
import { startGitLab } from './stage.ts'
import { BRANCHES, DRAFT } from '../port-stage.ts'
import type { PortStage } from '../port-stage.ts'

const PROJECT = '/projects/acme%2Fshop'

function create({ failure }: PortStage): ReturnType<PortStage['failure']> {
  return failure((pullRequests) => pullRequests.create(DRAFT))
}

t.test('a missing branch is named, after a request for it', async (t) => {
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

t.test('one commit is requested, only of the branches with that name', async (t) => {
  const { host, work } = await startGitLab(t)
  await work((pullRequests) => pullRequests.create(DRAFT))
  const query = new URLSearchParams(host.seen[0]?.path.split('?')[1])
  t.strictSame(Object.fromEntries(query), {
    ref_name: 'refs/heads/main..refs/heads/settings',
    per_page: '1',
    page: '1',
  })
})

t.test('a repository without a commit is retried for the head', async (t) => {
  const stage = await startGitLab(t)
  const answer = { status: 404, body: { message: '404 Repository Not Found' } }
  stage.host.fail({ kind: 'answer', answer })
  stage.host.fail({ kind: 'answer', answer })
  t.match(await create(stage), { reason: 'HeadNotFound', message: /the branch settings/ })
})

t.test('code that the token must not read is not a missing branch', async (t) => {
  const stage = await startGitLab(t)
  stage.host.fail({ kind: 'answer', answer: { status: 403, body: { message: '403 Forbidden' } } })
  t.match(await create(stage), { reason: 'PermissionDenied' })
  t.strictSame(stage.lines(), [`GET ${PROJECT}/repository/commits`, `GET ${PROJECT}`])
})

t.test('a project that is not visible is not a missing branch', async (t) => {
  const stage = await startGitLab(t)
  const answer = { status: 404, body: { message: '404 Project Not Found' } }
  stage.host.fail({ kind: 'answer', answer })
  t.match(await create(stage), { reason: 'RepositoryNotFound' })
  t.equal(stage.lines().length, 1)
})

t.test('after a bare 403, a project that accepts no merge requests is recognised', async (t) => {
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

t.test('where the next request also fails, the first failure is kept', async (t) => {
  const stage = await startGitLab(t)
  const forbidden = { status: 403, body: { message: '403 Forbidden' } }
  stage.host.fail({ kind: 'answer', answer: forbidden })
  stage.host.fail({ kind: 'answer', answer: forbidden })
  t.match(await create(stage), { reason: 'PermissionDenied', message: /the right to open pull requests/ })
  t.equal(stage.lines().length, 2)
})

t.test('a renamed project is followed to its number, and queried by that from then on', async (t) => {
  const stage = await startGitLab(t)
  stage.model.movedTo = ['acme', 'tools', 'store']
  addPull(stage.model, { ...BRANCHES, title: 'old', state: 'merged' })
  await stage.work(async (pullRequests) => {
    t.match(await pullRequests.find(BRANCHES, 'all'), [{ number: 1 }])
    t.match(await pullRequests.create(DRAFT), {
      number: 2,
      url: /\/acme\/tools\/store\/-\/merge_requests\/2$/,
    })
  })
  t.strictSame(stage.lines(), [
    `GET ${PROJECT}/merge_requests`,
    'GET /projects/42',
    'GET /projects/42/merge_requests',
    'GET /projects/42/repository/commits',
    'POST /projects/42/merge_requests',
  ])
})

t.test('a request that GitLab does not redirect is repeated after one that it does', async (t) => {
  const stage = await startGitLab(t)
  addPull(stage.model, { ...BRANCHES, title: 'old' })
  stage.model.movedTo = ['acme', 'tools', 'store']
  const shown = { number: 1, url: 'https://x', state: 'open', title: 'old', body: '' } as const
  await stage.work((pullRequests) => pullRequests.update(shown, { title: 'new', body: '' }))
  t.match(stage.model.pulls, [{ title: 'new' }])
  t.strictSame(stage.lines(), [
    `PUT ${PROJECT}/merge_requests/1`,
    `GET ${PROJECT}`,
    'GET /projects/42',
    'PUT /projects/42/merge_requests/1',
  ])
})

t.test('endless redirects of a project are given up', async (t) => {
  const stage = await startGitLab(t)
  const headers = { location: `${stage.host.baseURL}/projects/42/merge_requests` }
  const answer = { status: 301, headers, body: '' }
  stage.host.fail({ kind: 'answer', answer })
  stage.host.fail({ kind: 'answer', answer }, (_method, path) => path === '/projects/42')
  const look = (): ReturnType<PortStage['failure']> =>
    stage.failure((pullRequests) => pullRequests.find(BRANCHES, 'open'))
  t.match(await look(), { reason: 'RepositoryNotFound', message: /has moved/ })
  t.equal(stage.lines().length, 2)
  stage.host.fail({ kind: 'answer', answer })
  stage.host.fail({ kind: 'answer', answer }, (_method, path) => path.startsWith('/projects/42/'))
  t.match(await look(), { reason: 'RepositoryNotFound', message: /has moved/ })
  t.equal(stage.lines().length, 5)
})

t.test('the answer to a number has to have that number', async (t) => {
  for (const change of [{ id: 7 }, { id: '42 ' }, { path_with_namespace: 7 }]) {
    const stage = await startGitLab(t)
    stage.model.movedTo = ['acme', 'tools', 'store']
    const changed = (answer: HostAnswer): HostAnswer => ({
      ...answer,
      body: { ...Object(answer.body), ...change },
    })
    stage.host.fail({ kind: 'changed', change: changed }, (_method, path) => path === '/projects/42')
    const found = await stage.failure((pullRequests) => pullRequests.find(BRANCHES, 'open'))
    t.match(found, { reason: 'ProviderUnavailable' }, JSON.stringify(change))
    t.equal(stage.lines().length, 2)
  }
})

for (const location of [
  'https://evil.example/api/v4/projects/42',
  'http://localhost/api/v4/projects/42',
  '/users/sign_in',
  '/gitlab/api/v4/projects/42',
  '/api/v4/projects/42x',
  '/api/v4/projects/acme%2Fstore',
  '',
]) {
  t.test(`a redirect to ${JSON.stringify(location)} is not followed`, async (t) => {
    const stage = await startGitLab(t)
    stage.host.fail({ kind: 'answer', answer: { status: 301, headers: { location }, body: '' } })
    t.match(await create(stage), { reason: 'RepositoryNotFound', message: /has moved to another address/ })
    t.equal(stage.lines().length, 1)
  })
}
