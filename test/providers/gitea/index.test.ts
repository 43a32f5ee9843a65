import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import type { Fetch, PullRequests } from '../../../functions/domain/pull-request/pull-requests.ts'
import { atOnce } from '../../../functions/http/share.ts'
import connect from '../../../functions/providers/gitea/index.ts'
import type { HostAnswer } from '../../harness/hosts/dialect.ts'
import type { ArrivedRequest } from '../../harness/hosts/host-handler.ts'
import { addPull } from '../../harness/hosts/model.ts'
import { test } from './stage.ts'
import { BRANCHES, DRAFT, LOGIN } from '../port-stage.ts'

test('a token is sent alone, or as the password of any user name', async (t, stage) => {
  const pair = Buffer.from('dev:good-token').toString('base64')
  for (const [username, sent] of [
    [undefined, 'Bearer good-token'],
    ['dev', `Basic ${pair}`],
  ] as const) {
    let seen: string | null = ''
    const reply = ({ headers }: ArrivedRequest): HostAnswer => {
      seen = headers.get('authorization')
      return { status: 200, body: [] }
    }
    stage.host.fail({ kind: 'reply', reply })
    t.strictSame(await stage.work((api) => api.find(BRANCHES, 'open'), { login: { ...LOGIN, username } }), [])
    t.equal(seen, sent)
    t.strictSame(await stage.work((api) => api.find(BRANCHES, 'open'), { login: { ...LOGIN, username } }), [])
  }
  const login = { ...LOGIN, username: 'dev', secret: 'wrong' }
  t.match(await stage.failure((api) => api.find(BRANCHES, 'open'), { login }), {
    reason: 'AuthenticationFailed',
    message: /\(401\)/,
  })
})

test('what Gitea repeats of the credentials is masked, and no Failure holds them', async (t, stage) => {
  const login = { ...LOGIN, username: 'dev' }
  stage.host.fail(
    {
      kind: 'reply',
      reply: ({ headers }) => ({
        status: 422,
        body: { message: `no: ${headers.get('authorization') ?? ''} good-token` },
      }),
    },
    (method) => method === 'POST',
  )
  const failure = await stage.failure((api) => api.create(DRAFT), { login })
  t.match(failure, { reason: 'PullRequestRejected', message: /"no: Basic \*\*\* \*\*\*"/ })
  t.equal(failure.cause, undefined)
})

test('a list without a filter for heads is compared', async (t, stage) => {
  addPull(stage.model, { ...BRANCHES, title: 'ours' })
  addPull(stage.model, { ...BRANCHES, headOwner: 'dev', title: 'of a fork, whose label has no owner' })
  addPull(stage.model, { ...BRANCHES, head: 'Settings', title: 'another head' })
  addPull(stage.model, { ...BRANCHES, state: 'merged', title: 'before' })
  t.match(await stage.work((api) => api.find(BRANCHES, 'open')), [{ number: 1, title: 'ours' }])
  t.match(await stage.work((api) => api.find(BRANCHES, 'all')), [
    { number: 4, state: 'merged' },
    { number: 1, state: 'open' },
  ])
  t.equal(await stage.work((api) => api.read(2, BRANCHES)), undefined)
})

test('one whose head is deleted is recognised by its label', async (t, stage) => {
  addPull(stage.model, { ...BRANCHES, title: 'ours', state: 'merged' })
  const change = (body: unknown): unknown =>
    JSON.parse(JSON.stringify(body).replace('"ref":"settings"', '"ref":"refs/pull/1/head"'))
  stage.host.fail({ kind: 'changed', change: (answer) => ({ ...answer, body: change(answer.body) }) })
  t.match(await stage.work((api) => api.read(1, BRANCHES)), { number: 1, state: 'merged' })
})

test('an open one behind five hundred of other heads is requested by its branches', async (t, stage) => {
  addPull(stage.model, { ...BRANCHES, title: 'ours' })
  for (let count = 1; count <= 500; count += 1)
    addPull(stage.model, { ...BRANCHES, head: `other-${count}`, title: 'of others' })
  t.match(await stage.work((api) => api.find(BRANCHES, 'open')), [{ number: 1, title: 'ours' }])
  t.equal(stage.host.seen.length, 11)
  t.equal(stage.lines().at(-1), 'GET /pulls/main/settings')
  Object.assign(stage.model.pulls[0] ?? {}, { state: 'closed' })
  addPull(stage.model, { ...BRANCHES, head: 'other', title: 'of others' })
  t.strictSame(await stage.work((api) => api.find(BRANCHES, 'open')), [], 'which has none')
  t.strictSame(await stage.work((api) => api.find({ ...BRANCHES, base: 'old' }, 'open')), [])
  t.equal(stage.host.seen.length, 23, 'a list that ends says so by itself')
})

test('the one found by branches is checked like any other', async (t, stage) => {
  for (let count = 1; count <= 501; count += 1)
    addPull(stage.model, { ...BRANCHES, head: `other-${count}`, title: 'of others' })
  for (const { change, status = 200, is } of [
    { change: { head: { label: 'settings', repo_id: 2 }, base: { label: 'main', repo_id: 1 } }, is: [] },
    { change: { state: 'closed' }, is: [] },
    { change: { number: undefined }, is: { reason: 'ProviderUnavailable' } },
    { change: {}, status: 403, is: { reason: 'PermissionDenied' } },
  ]) {
    const shown = {
      number: 9,
      state: 'open',
      title: 'ours',
      html_url: 'https://localhost/9',
      head: { label: 'settings', repo_id: 1 },
      base: { label: 'main', repo_id: 1 },
    }
    stage.host.fail({ kind: 'answer', answer: { status, body: { ...shown, ...change } } }, (_, path) =>
      path.endsWith('/pulls/main/settings'),
    )
    const found = stage.work((api) => api.find(BRANCHES, 'open'))
    const ended = await found.catch((error: unknown) => error)
    t.match(ended, is)
    t.equal(Array.isArray(ended) ? ended.length : 0, 0)
  }
})

for (const [many, size] of [
  [2, 3 * 1_048_576],
  [50, 90_000],
  [500, 40_000],
] as const)
  test(`${many}: long pull requests of forks keep nothing from being found`, async (t, stage) => {
    const { host, model, work } = stage
    const forks = { base: 'main', title: 'Of a fork', headOwner: 'dev', body: 'x'.repeat(size) }
    const own = addPull(model, { ...BRANCHES, title: 'ours' })
    for (let n = 0; n < many; n += 1) addPull(model, { ...forks, head: `any-${n}` })
    t.match(await work((api) => api.find(BRANCHES, 'open')), [{ number: own.number }])
    t.ok(host.seen.length <= 2 + 6, 'the pages before the first that is too large, and one question')
    own.state = 'merged'
    t.match(await work((api) => api.find(BRANCHES, 'all')), [{ number: own.number, state: 'merged' }])
    t.strictSame(await work((api) => api.find({ ...BRANCHES, head: 'new' }, 'all')), [])
  })

test('behind long ones of forks and an older one, an open one is found by the number in the refusal', async (t, stage) => {
  const { model, work } = stage
  addPull(model, { ...BRANCHES, title: 'ours', state: 'merged' })
  const open = addPull(model, { ...BRANCHES, title: 'By hand' })
  const body = 'x'.repeat(3 * 1_048_576)
  for (let n = 0; n < 8; n += 1)
    addPull(model, { base: 'main', head: `x${n}`, title: 'x', headOwner: 'dev', body })
  const found = await work(async (api) => {
    t.strictSame(await api.find(BRANCHES, 'open'), [])
    t.equal(await api.create(DRAFT), 'exists')
    return api.find(BRANCHES, 'open')
  })
  t.match(found, [{ number: open.number, title: 'By hand' }])
  t.strictSame(await work((api) => api.find(BRANCHES, 'open')), [], 'nobody has reported it yet')
})

test('a few long ones of forks are passed over, and nothing else', async (t, stage) => {
  const { model, work } = stage
  addPull(model, { ...BRANCHES, title: 'ours', state: 'closed' })
  addPull(model, { ...BRANCHES, title: 'the newer one' })
  for (let n = 0; n < 25; n += 1)
    addPull(model, { base: 'main', head: `x${n}`, title: 'x', headOwner: 'dev' })
  const body = 'x'.repeat(3 * 1_048_576)
  addPull(model, { base: 'main', head: 'long', title: 'x', headOwner: 'dev', body })
  t.match(await work((api) => api.find(BRANCHES, 'open')), [{ title: 'the newer one' }])
})

test('one that is open is reported by the host, and not opened again', async (t, stage) => {
  addPull(stage.model, { ...BRANCHES, title: 'By hand' })
  t.equal(await stage.work((api) => api.create(DRAFT)), 'exists')
  t.equal(stage.model.pulls.length, 1)
})

test('a draft is a mark in the title, set once and kept', async (t, stage) => {
  for (const [title, written] of [
    ['Settings', 'WIP: Settings'],
    ['[wip] Settings', '[wip] Settings'],
  ] as const) {
    stage.model.pulls.length = 0
    const shown = await stage.work((api) => api.create({ ...DRAFT, title, draft: true }))
    t.match(stage.model.pulls, [{ title: written, draft: true }])
    if (shown === 'exists') throw new Error('None was open.')
    await stage.work((api) => api.update(shown, { title: 'New settings', body: 'new' }))
    t.match(stage.model.pulls, [{ title: /^(?:WIP: |\[wip\] )New settings$/, body: 'new', draft: true }])
    await stage.work((api) => api.update({ ...shown, title: 'Ready' }, { title: 'Settings', body: 'new' }))
    t.match(stage.model.pulls, [{ title: 'Settings', draft: false }], 'one that is ready stays so')
  }
})

test('a change is accepted with 201, and with the documented 200', async (t, stage) => {
  addPull(stage.model, { ...BRANCHES, title: 'old' })
  const [shown] = await stage.work((api) => api.find(BRANCHES, 'open'))
  const update = (status: number): ((api: PullRequests) => Promise<void>) => {
    stage.host.fail(
      { kind: 'changed', change: (answer) => ({ ...answer, status }) },
      (method) => method === 'PATCH',
    )
    return (api) => api.update(shown!, { title: 'new', body: 'new' })
  }
  for (const status of [201, 200]) await stage.work(update(status))
  t.match(await stage.failure(update(202)), { reason: 'ProviderUnavailable' })
  t.match(await stage.failure(update(404)), { reason: 'RepositoryNotFound' })
})

test('a number that is gone is undefined, and nothing else is', async (t, stage) => {
  t.equal(await stage.work((api) => api.read(7, BRANCHES)), undefined)
  stage.host.fail({ kind: 'answer', answer: { status: 403, body: { message: 'no' } } })
  t.match(await stage.failure((api) => api.read(7, BRANCHES)), { reason: 'PermissionDenied' })
})

test('one with other branches than requested was not created', async (t, stage) => {
  stage.host.fail(
    {
      kind: 'changed',
      change: (answer) => ({
        ...answer,
        body: { ...Object(answer.body), base: { label: 'main', repo_id: 2 } },
      }),
    },
    (method) => method === 'POST',
  )
  t.match(await stage.failure((api) => api.create(DRAFT)), { reason: 'ProviderUnavailable' })
})

t.test('a creation without an answer in time is tried again once both of its steps are over', async (t) => {
  const late = new Failure('Timeout', 'It did not answer in time.')
  const fetch: Fetch = (_url, { method }) =>
    method === 'POST' ? Promise.reject(late) : Promise.resolve(new Response('[{}]', { status: 200 }))
  const api = connect(
    {
      baseURL: 'https://git.example.com/api/v1',
      repository: ['acme', 'shop'],
      shown: 'https://git.example.com/acme/shop',
      permit: () => undefined,
      fetch,
      share: atOnce,
    },
    LOGIN,
  )
  const failure = await api.create(DRAFT).catch((error: unknown) => error)
  t.match(failure, { reason: 'Timeout', retryAfterSeconds: 120 })
})
