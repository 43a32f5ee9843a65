import { addPull } from '../../harness/hosts/model.ts'
import { test } from './stage.ts'
import { BRANCHES, DRAFT, LOGIN } from '../port-stage.ts'

const UUIDS = ['{0a0a0a0a-1111-2222-3333-444444444444}', '{0b0b0b0b-1111-2222-3333-444444444444}']
for (const [what, repository] of [
  ['UUIDs in braces', UUIDS],
  ['capitals, which Bitbucket writes small', ['acme', 'shop']],
] as const) {
  test(
    `workspace and repository may be ${what}`,
    async (t, stage) => {
      const called = repository.map((segment) => segment.toUpperCase())
      await stage.work((api) => api.create(DRAFT), { repository: called })
      t.match(stage.model.pulls, [{ head: 'settings' }])
      const path = `/repositories/${repository.map(encodeURIComponent).join('/')}`
      const asked = repository === UUIDS ? [`GET ${path}`] : []
      t.strictSame(stage.lines(), [...asked, `GET ${path}/pullrequests`, `POST ${path}/pullrequests`])
    },
    UUIDS,
  )
}

test(
  'one that is called by UUIDs has its slugs, and nothing is created where Bitbucket does not tell them',
  async (t, stage) => {
    const unusable = [undefined, 5, '', 'acme', '/shop', 'a/b/c', 'acme/shop?', UUIDS.join('/')]
    const bodies = [...unusable.map((full_name) => ({ full_name })), [], '<html>']
    const answers = bodies.map((body) => ({ status: 200, body }))
    for (const answer of [...answers, { status: 404, body: {} }, { status: 301, body: '' }]) {
      stage.host.fail({ kind: 'answer', answer })
      t.match(await stage.failure((api) => api.create(DRAFT), { repository: UUIDS }), {
        reason: answer.status === 200 ? 'ProviderUnavailable' : 'RepositoryNotFound',
      })
    }
    t.equal(stage.writes(), 0)
    t.equal(stage.host.seen.length, answers.length + 2, 'nothing else is asked')
    t.match(await stage.work((api) => api.create(DRAFT), { repository: UUIDS }), { number: 1 })
  },
  UUIDS,
)

test('an API token is sent with the e-mail address of its account, any other token alone', async (t, stage) => {
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
