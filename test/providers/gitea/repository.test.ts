import { NOT_FOUND } from '../../harness/hosts/gitea-literal.ts'
import type { HostAnswer } from '../../harness/hosts/dialect.ts'
import { addPull } from '../../harness/hosts/model.ts'
import { test } from './stage.ts'
import { BRANCHES, DRAFT } from '../port-stage.ts'

const [COMMITS, BASE, HEAD] = ['GET /commits', 'GET /branches/main', 'GET /branches/settings']

test('one commit is requested before it is opened, and of branches only', async (t, stage) => {
  t.match(await stage.work((api) => api.create(DRAFT)), { number: 1 })
  t.strictSame(stage.lines(), [COMMITS, 'POST /pulls'])
  const { searchParams } = new URL(stage.host.seen[0]?.path ?? '', 'https://localhost')
  t.match(Object.fromEntries(searchParams), {
    sha: 'refs/heads/settings',
    not: 'refs/heads/main',
    limit: '1',
    files: 'false',
  })
})

test('a head without a commit of its own is not opened empty', async (t, stage) => {
  stage.model.branches.set('settings', 1)
  t.match(await stage.failure((api) => api.create(DRAFT)), { reason: 'NothingToMerge' })
  t.strictSame(stage.lines(), [COMMITS])
  const branches = { ...DRAFT.branches, head: 'main' }
  t.match(await stage.failure((api) => api.create({ ...DRAFT, branches })), {
    reason: 'NothingToMerge',
    message: /main has no commit that main/,
  })
})

test("Gitea's answer about a branch and itself also means nothing to merge", async (t, stage) => {
  const message = 'Invalid PullRequest: There are no changes between the head and the base'
  stage.host.fail(
    { kind: 'answer', answer: { status: 422, body: { message } } },
    (method) => method === 'POST',
  )
  t.match(await stage.failure((api) => api.create(DRAFT)), { reason: 'NothingToMerge' })
})

for (const { status, body } of [NOT_FOUND, { status: 409, body: { message: 'Git Repository is empty.' } }]) {
  test(`a search for commits that ends with ${status} is explained by the branches`, async (t, stage) => {
    const lose = (branches: object): Promise<unknown> => {
      stage.host.fail({ kind: 'answer', answer: { status, body } }, (_, path) => path.includes('/commits'))
      return stage.failure((api) => api.create({ ...DRAFT, branches: { ...DRAFT.branches, ...branches } }))
    }
    t.match(await lose({ head: 'later' }), { reason: 'HeadNotFound', message: /the branch later \(yet\)/ })
    t.match(await lose({ base: 'release' }), { reason: 'HeadNotFound', message: /the branch release/ })
    t.match(await lose({ head: 'later', base: 'release' }), {
      reason: 'HeadNotFound',
      message: /later or release/,
    })
    t.match(
      await lose({}),
      { reason: 'HeadNotFound', message: /settings or main/ },
      'both have come meanwhile',
    )
  })
}

test('a branch that disappears between search and creation is named', async (t, stage) => {
  stage.host.fail({ kind: 'answer', answer: NOT_FOUND }, (method) => method === 'POST')
  stage.host.fail({ kind: 'answer', answer: NOT_FOUND }, (_, path) => path.endsWith('/branches/settings'))
  t.match(await stage.failure((api) => api.create(DRAFT)), {
    reason: 'HeadNotFound',
    message: /the branch settings/,
  })
  t.strictSame(stage.lines(), [COMMITS, 'POST /pulls', BASE, HEAD])
})

test('a repository that is no longer visible is not one without branches', async (t, stage) => {
  for (let request = 0; request < 4; request += 1) stage.host.fail({ kind: 'answer', answer: NOT_FOUND })
  t.match(await stage.failure((api) => api.create(DRAFT)), { reason: 'RepositoryNotFound' })
  t.strictSame(stage.lines(), [COMMITS, BASE, HEAD, 'GET '])
})

test('a server error of the host for existing branches is ProviderUnavailable', async (t, stage) => {
  stage.host.fail({ kind: 'answer', answer: { status: 500, body: { message: '' } } })
  t.match(await stage.failure((api) => api.create(DRAFT)), { reason: 'ProviderUnavailable' })
  t.equal(stage.model.pulls.length, 0)
})

for (const { what, answer, reason } of [
  { what: 'a page', answer: { status: 200, body: '<!doctype html>' }, reason: 'ProviderUnavailable' },
  { what: 'a wrong token', answer: { status: 401, body: {} }, reason: 'AuthenticationFailed' },
]) {
  test(`a branch answered with ${what} is not proved missing`, async (t, stage) => {
    stage.host.fail({ kind: 'answer', answer: NOT_FOUND })
    stage.host.fail({ kind: 'answer', answer })
    t.match(await stage.failure((api) => api.create(DRAFT)), { reason })
    t.strictSame(stage.lines(), [COMMITS, BASE])
  })
}

test('a search for commits that is answered with a web page is not accepted', async (t, stage) => {
  stage.host.fail({ kind: 'answer', answer: { status: 200, body: '<!doctype html>' } })
  t.match(await stage.failure((api) => api.create(DRAFT)), { reason: 'ProviderUnavailable' })
  t.strictSame(stage.lines(), [COMMITS])
})

for (const { what, most, headers } of [
  { what: 'of fifty', most: 50, headers: undefined },
  { what: 'that the installation has made shorter', most: 20, headers: undefined },
  { what: 'whose number a proxy has taken away', most: 20, headers: {} },
]) {
  test(`all are listed over pages ${what}, the newest first`, async (t, stage) => {
    for (let count = 1; count <= 55; count += 1)
      addPull(stage.model, { ...BRANCHES, title: `${count}`, state: 'closed' })
    const pages = Math.ceil(55 / most)
    for (let page = 1; page <= pages + 1; page += 1)
      stage.host.fail({
        kind: 'changed',
        change: (answer) => ({
          ...answer,
          ...(headers === undefined ? {} : { headers }),
          body: most === 50 ? answer.body : cutTo(stage.model.pulls.length, page, most),
        }),
      })
    const found = await stage.work((api) => api.find(BRANCHES, 'all'))
    t.strictSame(
      found.map(({ number }) => number),
      Array.from({ length: 55 }, (_, index) => 55 - index),
    )
    t.equal(stage.host.seen.length, headers === undefined ? pages : pages + 1)
  })
}

/** This page of a list of the same branches. */
function cutTo(many: number, page: number, most: number): unknown {
  const numbers = Array.from({ length: many }, (_, index) => many - index)
  const end = { label: 'settings', repo_id: 1 }
  return numbers.slice((page - 1) * most, page * most).map((number) => ({
    number,
    state: 'closed',
    title: 'cut',
    html_url: `https://localhost/acme/shop/pulls/${number}`,
    head: end,
    base: { ...end, label: 'main' },
  }))
}

test('an answer that is not a list is not accepted', async (t, stage) => {
  stage.host.fail({ kind: 'answer', answer: { status: 200, body: { message: 'none' } } })
  t.match(await stage.failure((api) => api.find(BRANCHES, 'open')), { reason: 'ProviderUnavailable' })
})

test('a repository without pull requests is not taken for a missing one', async (t, stage) => {
  const off = (answer: HostAnswer): HostAnswer => ({
    ...answer,
    body: { ...Object(answer.body), has_pull_requests: false },
  })
  const look = (path: RegExp) => (_: string, called: string) => path.test(called)
  stage.host.fail({ kind: 'answer', answer: NOT_FOUND }, look(/\/pulls$/))
  stage.host.fail({ kind: 'changed', change: off }, look(/\/shop$/))
  const failure = await stage.failure((api) => api.find(BRANCHES, 'open'))
  t.match(failure, { reason: 'PullRequestRejected', message: /pull requests are switched off/ })
  stage.host.fail({ kind: 'answer', answer: NOT_FOUND }, look(/\/pulls$/))
  const missing = await stage.failure((api) => api.find(BRANCHES, 'open'))
  t.match(missing, { reason: 'RepositoryNotFound' }, 'where they are on, it means what it says')
})
