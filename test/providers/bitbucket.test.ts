import { AUTHOR } from '../harness/hosts/bitbucket-bodies.ts'
import { addPull } from '../harness/hosts/model.ts'
import { DEV, OPS, STRANGERS, test } from './bitbucket-stage.ts'
import { BRANCHES, DRAFT, LOGIN } from './port-stage.ts'

for (const [what, repository] of [
  ['UUIDs in braces', ['{0a0a0a0a-1111-2222-3333-444444444444}', '{0b0b0b0b-1111-2222-3333-444444444444}']],
  ['capitals, which Bitbucket writes small', ['acme', 'shop']],
] as const) {
  test(
    `workspace and repository may be ${what}`,
    async (t, stage) => {
      const called = repository.map((segment) => segment.toUpperCase())
      await stage.work((api) => api.create(DRAFT), { repository: called })
      t.match(stage.model.pulls, [{ head: 'settings' }])
      const [seen] = stage.host.seen
      t.equal(seen?.path, `/repositories/${repository.map(encodeURIComponent).join('/')}/pullrequests`)
    },
    repository,
  )
}

test('an API token goes with the e-mail address of its account, any other token alone', async (t, stage) => {
  for (const username of [undefined, 'dev@acme.example']) {
    t.strictSame(await stage.work((api) => api.find(BRANCHES, 'open'), { login: { ...LOGIN, username } }), [])
  }
  const login = { ...LOGIN, username: 'dev' }
  t.match(await stage.failure((api) => api.find(BRANCHES, 'open'), { login }), {
    reason: 'AuthenticationFailed',
    message: /e-mail address/,
  })
})

test('what Bitbucket repeats of the credentials is masked, and no Failure holds them', async (t, stage) => {
  const login = { ...LOGIN, username: 'dev@acme.example' }
  stage.host.fail({
    kind: 'reply',
    reply: ({ headers }) => ({
      status: 400,
      body: { type: 'error', error: { message: `no: ${headers.get('authorization') ?? ''} good-token` } },
    }),
  })
  const failure = await stage.failure((api) => api.create(DRAFT), { login })
  t.match(failure, { reason: 'PullRequestRejected', message: /"no: Basic \*\*\* \*\*\*"/ })
  t.equal(failure.cause, undefined)
})

test('quotes and backslashes in the names of branches are found', async (t, stage) => {
  const branches = { ...BRANCHES, head: 'a"b\\c' }
  addPull(stage.model, { ...branches, title: 'odd' })
  t.match(await stage.work((api) => api.find(branches, 'open')), [{ number: 1, title: 'odd' }])
})

test('a pull request of a fork with the same names is none of ours', async (t, stage) => {
  addPull(stage.model, { ...BRANCHES, headOwner: 'dev', title: 'fork' })
  t.strictSame(await stage.work((api) => api.find(BRANCHES, 'all')), [])
  t.equal(await stage.work((api) => api.read(1, BRANCHES)), undefined)
  t.match(await stage.work((api) => api.create(DRAFT)), { number: 2 })
  t.equal(stage.model.pulls.length, 2)
})

test('all are listed over several pages, the newest first', async (t, stage) => {
  for (let count = 1; count <= 45; count += 1) {
    addPull(stage.model, { ...BRANCHES, title: `${count}`, state: count % 2 === 0 ? 'merged' : 'closed' })
  }
  const found = await stage.work((api) => api.find(BRANCHES, 'all'))
  t.strictSame(
    found.map(({ number }) => number),
    Array.from({ length: 45 }, (_, index) => 45 - index),
  )
  t.equal(stage.host.seen.length, 3)
})

test('the open one is looked for no further than the newest of the same branches', async (t, stage) => {
  for (let count = 1; count <= 45; count += 1) {
    addPull(stage.model, { ...BRANCHES, title: `${count}`, state: 'merged' })
  }
  t.strictSame(await stage.work((api) => api.find(BRANCHES, 'open')), [])
  addPull(stage.model, { ...BRANCHES, title: 'open' })
  for (let count = 1; count <= 25; count += 1) {
    addPull(stage.model, { ...BRANCHES, headOwner: 'dev', title: 'of a fork' })
  }
  t.match(await stage.work((api) => api.find(BRANCHES, 'open')), [{ number: 46 }])
  t.equal(stage.host.seen.length, 3, 'one page, and then two behind those of the fork')
})

test('no more than ten pages are read', async (t, stage) => {
  for (let count = 1; count <= 230; count += 1) addPull(stage.model, { ...BRANCHES, title: `${count}` })
  t.equal((await stage.work((api) => api.find(BRANCHES, 'all'))).length, 200)
  t.equal(stage.host.seen.length, 10)
})

for (const next of [
  'https://evil.example/2.0/repositories/acme/shop/pullrequests?page=2',
  'https://localhost:1/2.0/repositories/acme/shop/pullrequests?page=2',
  'ORIGIN/2.0/repositories/../user?page=2',
  'ORIGIN/2.0/user',
  '/2.0/repositories/acme/shop/pullrequests?page=2',
  'next',
]) {
  test(`the next page is not followed to ${next}`, async (t, stage) => {
    const body = { values: [], next: next.replace('ORIGIN', stage.host.origin) }
    stage.host.fail({ kind: 'answer', answer: { status: 200, body } })
    t.match(await stage.failure((api) => api.find(BRANCHES, 'all')), {
      reason: 'ProviderUnavailable',
    })
    t.equal(stage.host.seen.length, 1)
  })
}

test('one of ours that cannot be read hides behind no list', async (t, stage) => {
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

test('new words take no reviewer, no draft and no closing of the branch away', async (t, stage) => {
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

test('new words that Bitbucket does not take for the sake of old reviewers say so', async (t, stage) => {
  addPull(stage.model, { ...BRANCHES, title: 'old', reviewers: STRANGERS })
  const [shown] = await stage.work((api) => api.find(BRANCHES, 'open'))
  t.match(await stage.failure((api) => api.update(shown!, { title: 'new', body: '' })), {
    reason: 'PullRequestRejected',
    message: /"reviewers: Malformed reviewers list"; take those out/,
  })
})

test('a reviewer who is one already costs no writing', async (t, stage) => {
  addPull(stage.model, { ...BRANCHES, title: 'open', reviewers: [DEV] })
  t.strictSame(await stage.work((api) => api.add(1, 'reviewers', [DEV.toUpperCase()])), [])
  t.equal(stage.writes(), 0)
})

test('those whom Bitbucket does not take are named one by one, and the others are added', async (t, stage) => {
  const pull = addPull(stage.model, { ...BRANCHES, title: 'open', body: 'kept' })
  const [first, second] = STRANGERS
  const said = await stage.work((api) =>
    api.add(1, 'reviewers', [first!, DEV, AUTHOR.account_id, OPS, second!]),
  )
  t.match(said, [
    new RegExp(`does not take ${first} as a reviewer \\("reviewers: Malformed reviewers list"\\)`),
    /does not take 557058:\S+ as a reviewer \(".* is the author and cannot be included as a reviewer\."\)/,
    new RegExp(`does not take ${second} as a reviewer`),
  ])
  t.equal(said.length, 3)
  t.match(pull, { reviewers: [DEV, OPS], title: 'open', body: 'kept' })
})

test('one stranger among fifty is found with a dozen requests', async (t, stage) => {
  const many = Array.from(
    { length: 49 },
    (_, index) => `{00000000-0000-0000-0000-${String(index).padStart(12, '0')}}`,
  )
  for (const name of many) stage.model.people.add(name)
  const pull = addPull(stage.model, { ...BRANCHES, title: 'open' })
  const said = await stage.work((api) => api.add(1, 'reviewers', many.toSpliced(30, 0, STRANGERS[0]!)))
  t.match(said, [STRANGERS[0]])
  t.equal(pull.reviewers.length, 49)
  t.ok(stage.writes() <= 13, `${stage.writes()} requests`)
})

test('what goes wrong with the credentials while adding is no sentence', async (t, stage) => {
  addPull(stage.model, { ...BRANCHES, title: 'open' })
  stage.model.tokens.set('good-token', 'read')
  t.match(await stage.failure((api) => api.add(1, 'reviewers', [DEV])), {
    reason: 'PermissionDenied',
  })
})

test('labels and assignees are answered without a request', async (t, stage) => {
  for (const detail of ['labels', 'assignees'] as const) {
    const said = await stage.work((api) => api.add(1, detail, ['a', 'b']))
    t.match(said, [new RegExp(`has no ${detail} of pull requests, so a, b could not`)])
  }
  t.equal(stage.host.seen.length, 0)
})
