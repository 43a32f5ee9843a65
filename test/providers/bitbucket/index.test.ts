import { addPull } from '../../harness/hosts/model.ts'
import { DEV, OPS, STRANGERS, test } from './stage.ts'
import { BRANCHES, DRAFT } from '../port-stage.ts'

test('quotes and backslashes in the names of branches are found', async (t, stage) => {
  const branches = { ...BRANCHES, head: 'a"b\\c' }
  addPull(stage.model, { ...branches, title: 'odd' })
  t.match(await stage.work((api) => api.find(branches, 'open')), [{ number: 1, title: 'odd' }])
})

test('a pull request of a fork with the same branch names is not ours', async (t, stage) => {
  addPull(stage.model, { ...BRANCHES, headOwner: 'dev', title: 'fork' })
  t.strictSame(await stage.work((api) => api.find(BRANCHES, 'all')), [])
  t.equal(await stage.work((api) => api.read(1, BRANCHES)), undefined)
  t.match(await stage.work((api) => api.create(DRAFT)), { number: 2 })
  t.equal(stage.model.pulls.length, 2)
})

test('the open one is searched only among the newest of the same branches', async (t, stage) => {
  for (let count = 1; count <= 45; count += 1) {
    addPull(stage.model, { ...BRANCHES, title: `${count}`, state: 'merged' })
  }
  t.strictSame(await stage.work((api) => api.find(BRANCHES, 'open')), [])
  addPull(stage.model, { ...BRANCHES, title: 'open' })
  for (let count = 1; count <= 25; count += 1) {
    addPull(stage.model, { ...BRANCHES, headOwner: 'dev', title: 'of a fork' })
  }
  t.match(await stage.work((api) => api.find(BRANCHES, 'open')), [{ number: 46 }])
  t.match(await stage.work((api) => api.find(BRANCHES, 'all')), [{ number: 46 }, { number: 45 }])
  t.equal(stage.host.seen.length, 2 + 3, 'one page each for the open one, and three for all')
})

const WORKSPACE = '{0a0a0a0a-1111-2222-3333-444444444444}'
test(
  'where forks cannot be filtered out, their closed ones do not hide an open one, and their open ones stop it',
  async (t, stage) => {
    const repository = [WORKSPACE, 'shop']
    const fork = { ...BRANCHES, headOwner: 'dev', title: 'of a fork' }
    const person = addPull(stage.model, { ...BRANCHES, title: 'Written by a person' })
    for (let count = 1; count <= 200; count += 1) addPull(stage.model, { ...fork, state: 'closed' })
    t.match(await stage.work((api) => api.find(BRANCHES, 'open'), { repository }), [{ number: 1 }])
    t.match(await stage.failure((api) => api.find(BRANCHES, 'all'), { repository }), {
      reason: 'Conflict',
      message: /more pull requests from settings to main than Commitlet reads/,
    })
    for (let count = 1; count <= 200; count += 1) addPull(stage.model, fork)
    t.match(await stage.failure((api) => api.find(BRANCHES, 'open'), { repository }), { reason: 'Conflict' })
    t.equal(await stage.work((api) => api.create(DRAFT), { repository }), 'exists', 'its slugs are asked for')
    t.match(person, { title: 'Written by a person' })
  },
  [WORKSPACE, '{0b0b0b0b-1111-2222-3333-444444444444}'],
)

test('one that is open, and that a search does not show, is known once its text is replaced', async (t, stage) => {
  const empty = { kind: 'answer', answer: { status: 200, body: { values: [] } } } as const
  const opened = new Date(Date.now() - 60_000)
  addPull(stage.model, { ...BRANCHES, title: 'Written by a person', opened })
  stage.host.fail(empty)
  t.match(await stage.work((api) => api.create(DRAFT)), { number: 1, replaced: true })
  stage.model.pulls.length = 0
  const created = await stage.work((api) => api.create(DRAFT))
  t.match(created, { number: 1 })
  t.notMatch(created, { replaced: true })
})

test('one of ours that cannot be read is not skipped in a list', async (t, stage) => {
  addPull(stage.model, { ...BRANCHES, title: 'open' })
  stage.host.fail({
    kind: 'changed',
    change: (answer) => ({
      ...answer,
      body: JSON.parse(JSON.stringify(answer.body).replace('"OPEN"', '"NEW"')),
    }),
  })
  t.match(await stage.failure((api) => api.find(BRANCHES, 'open')), { reason: 'ProviderUnavailable' })
})

test('a changed text keeps reviewers, draft and the closing of the branch', async (t, stage) => {
  const pull = addPull(stage.model, { ...BRANCHES, title: 'old', draft: true, reviewers: [DEV, OPS] })
  const [shown] = await stage.work((api) => api.find(BRANCHES, 'open'))
  stage.host.fail({
    kind: 'changed',
    change: (answer) => ({ ...answer, body: { ...Object(answer.body), close_source_branch: true } }),
  })
  await stage.work((api) => api.update(shown!, { title: 'new', body: 'new\n' }))
  t.match(pull, { title: 'new', body: 'new\n', draft: true, reviewers: [DEV, OPS] })
  t.match(stage.host.seen.at(-1), { method: 'PUT', body: { close_source_branch: true } })
})

test('a changed text that Bitbucket refuses because of old reviewers says so', async (t, stage) => {
  addPull(stage.model, { ...BRANCHES, title: 'old', reviewers: STRANGERS })
  const [shown] = await stage.work((api) => api.find(BRANCHES, 'open'))
  t.match(await stage.failure((api) => api.update(shown!, { title: 'new', body: '' })), {
    reason: 'PullRequestRejected',
    message: /"reviewers: Malformed reviewers list"; remove the reviewers/,
  })
})
