import t from 'tap'
import { GITLAB } from '../../harness/hosts/gitlab.ts'
import { addPull } from '../../harness/hosts/model.ts'
import { startGitLab } from './stage.ts'
import { BRANCHES, DRAFT } from '../port-stage.ts'

const MERGES = '/projects/acme%2Fshop/merge_requests'

t.test('below a path of its host, in nested groups, it is opened as anywhere else', async (t) => {
  const dialect = { ...GITLAB, apiPath: '/tools/gitlab/api/v4' }
  const repository = ['acme', 'team', 'web', 'shop']
  const { host, work, lines } = await startGitLab(t, { dialect, repository })
  const created = await work((pullRequests) => pullRequests.create(DRAFT))
  t.match(created, {
    number: 1,
    url: `${host.origin}/tools/gitlab/acme/team/web/shop/-/merge_requests/1`,
    state: 'open',
  })
  t.match(lines(), ['GET /projects/acme%2Fteam%2Fweb%2Fshop/repository/commits', /^POST/])
})

t.test('branches with special characters of an address are found', async (t) => {
  const { model, work } = await startGitLab(t)
  const branches = { base: 'release/1.0', head: 'a&b=c%2F#é+d', headOwner: undefined }
  model.branches.set(branches.base, 1)
  model.branches.set(branches.head, 2)
  const created = await work((pullRequests) => pullRequests.create({ ...DRAFT, branches }))
  const found = await work((pullRequests) => pullRequests.find(branches, 'open'))
  t.strictSame(found, [created])
})

t.test('only the open ones are requested, the newest first', async (t) => {
  const { host, model, work } = await startGitLab(t)
  addPull(model, { ...BRANCHES, title: 'Closed', state: 'closed' })
  addPull(model, { ...BRANCHES, title: 'Merged', state: 'merged' })
  addPull(model, { ...BRANCHES, title: 'Open' })
  const open = await work((pullRequests) => pullRequests.find(BRANCHES, 'open'))
  t.match(open, [{ number: 3, state: 'open' }])
  const all = await work((pullRequests) => pullRequests.find(BRANCHES, 'all'))
  t.match(all, [{ number: 3 }, { number: 2, state: 'merged' }, { number: 1, state: 'closed' }])
  const queries = host.seen.map(({ path }) => new URLSearchParams(path.split('?')[1]))
  t.strictSame(
    queries.map((query) => query.get('state')),
    ['opened', null, null],
  )
  t.match(queries[0]?.toString(), /source_branch=settings&target_branch=main/)
})

t.test('one from a fork with the same branches is not one of the project', async (t) => {
  const { model, work } = await startGitLab(t)
  addPull(model, { ...BRANCHES, title: 'From a fork', headOwner: 'dev' })
  t.strictSame(await work((pullRequests) => pullRequests.find(BRANCHES, 'all')), [])
  t.equal(await work((pullRequests) => pullRequests.read(1, BRANCHES)), undefined)
})

t.test('an answer of a host that ignores the branch names is not accepted', async (t) => {
  const { host, model, work } = await startGitLab(t)
  addPull(model, { ...BRANCHES, title: 'These' })
  addPull(model, { ...BRANCHES, head: 'settings-2', title: 'Others' })
  host.fail({
    kind: 'changed',
    change: (answer) => ({
      ...answer,
      body: [2, 1].map((iid) => ({ ...one(answer.body), iid, source_branch: iid === 1 ? 'settings' : 'x' })),
    }),
  })
  t.match(await work((pullRequests) => pullRequests.find(BRANCHES, 'open')), [{ number: 1 }])
})

t.test('pages are read until one is not full, at most nine', async (t) => {
  const { host, model, work, lines } = await startGitLab(t)
  for (let n = 0; n < 120; n += 1) addPull(model, { ...BRANCHES, title: `Number ${n}`, state: 'merged' })
  t.equal((await work((pullRequests) => pullRequests.find(BRANCHES, 'all'))).length, 120)
  t.equal(lines().length, 1 + 7)
  for (let n = 0; n < 600; n += 1) addPull(model, { ...BRANCHES, title: `More ${n}`, state: 'merged' })
  host.seen.length = 0
  t.equal((await work((pullRequests) => pullRequests.find(BRANCHES, 'all'))).length, 180)
  t.equal(lines().length, 1 + 9)
})

t.test('those of forks do not hide one of the project, however many and long they are', async (t) => {
  const { host, model, work, lines } = await startGitLab(t)
  addPull(model, { ...BRANCHES, title: 'Written by a person' })
  const body = 'x'.repeat(1_048_576)
  for (let n = 0; n < 250; n += 1) addPull(model, { ...BRANCHES, title: 'Of a fork', headOwner: 'dev', body })
  t.match(await work((pullRequests) => pullRequests.find(BRANCHES, 'open')), [{ number: 1 }])
  t.equal(lines().length, 2)
  t.match(host.seen[1]?.path, /source_project_id=\d+/)
})

for (const [what, many, character] of [
  ['quotes', 2, '"'],
  ['line ends', 2, '\n'],
  ['control characters', 1, '\u0001'],
] as const)
  t.test(`${what}: long descriptions of forks keep nothing from being found`, async (t) => {
    const { model, work, lines } = await startGitLab(t)
    const fork = { ...BRANCHES, title: 'Of a fork', headOwner: 'dev', body: character.repeat(1_048_576) }
    for (let n = 0; n < many; n += 1) addPull(model, fork)
    t.strictSame(await work((pullRequests) => pullRequests.find(BRANCHES, 'open')), [])
    addPull(model, { ...BRANCHES, title: 'Written by a person' })
    const found = await work((pullRequests) => pullRequests.find(BRANCHES, 'all'))
    t.match(found, [{ title: 'Written by a person' }])
    const look = [`GET ${MERGES}`, 'GET /projects/acme%2Fshop', `GET ${MERGES}`]
    t.strictSame(lines(), [...look, ...look])
  })

t.test('a project without an ID, behind long descriptions of forks, is not accepted', async (t) => {
  const { host, model, failure } = await startGitLab(t)
  addPull(model, { ...BRANCHES, title: 'x', headOwner: 'dev', body: '\u0001'.repeat(1_048_576) })
  host.fail({ kind: 'answer', answer: { status: 200, body: { id: '1' } } }, (_, path) =>
    path.endsWith('/projects/acme%2Fshop'),
  )
  t.match(await failure((pullRequests) => pullRequests.find(BRANCHES, 'open')), {
    reason: 'ProviderUnavailable',
  })
})

t.test('where a GitLab lists many of forks anyway, nothing is opened', async (t) => {
  const { host, failure, lines } = await startGitLab(t)
  const fork = {
    iid: 900,
    web_url: `${host.origin}/acme/shop/-/merge_requests/900`,
    title: 'Of a fork',
    state: 'opened',
    source_branch: 'settings',
    target_branch: 'main',
    source_project_id: 2,
    target_project_id: 1,
  }
  for (const size of [3, ...Array.from({ length: 9 }, () => 20)])
    host.fail({ kind: 'answer', answer: { status: 200, body: Array.from({ length: size }, () => fork) } })
  t.match(await failure((pullRequests) => pullRequests.find(BRANCHES, 'open')), { reason: 'Conflict' })
  t.equal(lines().length, 10)
})

t.test('a draft is marked at the start of its title, and keeps its mark', async (t) => {
  const { model, work } = await startGitLab(t)
  const created = await work((pullRequests) => pullRequests.create({ ...DRAFT, draft: true }))
  t.match(created, { title: 'Draft: Settings' })
  t.match(model.pulls, [{ title: 'Draft: Settings', draft: true }])
  const shown = { number: 1, url: 'https://x', state: 'open', title: '[Draft] Settings', body: '' } as const
  await work((pullRequests) => pullRequests.update(shown, { title: 'New', body: 'New.' }))
  t.match(model.pulls, [{ title: '[Draft] New', body: 'New.', draft: true }])
})

t.test('one that a user has marked as ready does not become a draft again', async (t) => {
  const { model, work } = await startGitLab(t)
  const pull = addPull(model, { ...BRANCHES, title: 'Settings' })
  const shown = { ...pull, url: 'https://x', state: 'open' } as const
  await work((pullRequests) => pullRequests.update(shown, { title: 'New', body: '' }))
  t.match(model.pulls, [{ title: 'New', draft: false }])
})

t.test('no line of a body is executed, and all of it is kept', async (t) => {
  const { model, work } = await startGitLab(t)
  const body = 'Usage:\n/close\n  /merge\n\\/assign @ops\n\nEnd.'
  t.match(await work((pullRequests) => pullRequests.create({ ...DRAFT, body })), { body })
  t.match(model.pulls, [{ state: 'open', body: 'Usage:\n\\/close\n  \\/merge\n\\\\/assign @ops\n\nEnd.' }])
  t.match(await work((pullRequests) => pullRequests.read(1, BRANCHES)), { body })
})

t.test('another one that is open already is reported', async (t) => {
  const { model, work } = await startGitLab(t)
  addPull(model, { ...BRANCHES, title: 'Other' })
  t.equal(await work((pullRequests) => pullRequests.create(DRAFT)), 'exists')
})

t.test('a branch that the API does not see yet, although its commits exist, is retried', async (t) => {
  const { host, failure } = await startGitLab(t)
  const answer = { status: 400, body: { message: { source_branch: ['does not exist'] } } }
  host.fail({ kind: 'answer', answer }, (method) => method === 'POST')
  t.match(await failure((pullRequests) => pullRequests.create(DRAFT)), {
    reason: 'HeadNotFound',
    message: /the branch settings/,
  })
})

t.test('a fork is refused as not supported', async (t) => {
  const { failure, lines } = await startGitLab(t)
  const branches = { ...BRANCHES, headOwner: 'dev' }
  t.match(await failure((pullRequests) => pullRequests.create({ ...DRAFT, branches })), {
    reason: 'NotSupported',
    message: /from a fork/,
  })
  t.strictSame(lines(), [])
})

t.test('a missing merge request is distinguished from a missing project', async (t) => {
  const { host, work, failure } = await startGitLab(t)
  t.equal(await work((pullRequests) => pullRequests.read(7, BRANCHES)), undefined)
  host.fail({ kind: 'answer', answer: GITLAB.answers.notFound })
  t.match(await failure((pullRequests) => pullRequests.read(7, BRANCHES)), { reason: 'RepositoryNotFound' })
})

t.test('an update that is answered with a web page is not accepted', async (t) => {
  const { host, model, failure, lines } = await startGitLab(t)
  const pull = addPull(model, { ...BRANCHES, title: 'Settings' })
  const body = '<!DOCTYPE html><html></html>'
  host.fail({ kind: 'answer', answer: { status: 200, headers: { 'content-type': 'text/html' }, body } })
  const shown = { ...pull, url: 'https://x', state: 'open' } as const
  t.match(await failure((pullRequests) => pullRequests.update(shown, { title: 'New', body: '' })), {
    reason: 'ProviderUnavailable',
    message: /web page/,
  })
  t.strictSame(lines(), [`PUT ${MERGES}/1`])
})

function one(list: unknown): object {
  const first: unknown = Array.isArray(list) ? list[0] : undefined
  return typeof first === 'object' && first !== null ? first : {}
}
