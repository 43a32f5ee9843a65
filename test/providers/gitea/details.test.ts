import { AUTHOR } from '../../harness/hosts/gitea-bodies.ts'
import { OUTSIDER } from '../../harness/hosts/gitea-details.ts'
import { NOT_FOUND } from '../../harness/hosts/gitea-literal.ts'
import { addPull } from '../../harness/hosts/model.ts'
import { test } from './stage.ts'
import { BRANCHES, pageOf, type PortStage } from '../port-stage.ts'

const OPEN = { ...BRANCHES, title: 'open' }

function written({ host }: PortStage): readonly unknown[] {
  return host.seen.filter(({ method }) => method !== 'GET').map(({ body }) => body)
}

test('labels that Gitea skips are named, and the others added', async (t, stage) => {
  const pull = addPull(stage.model, { ...OPEN, labels: ['urgent'] })
  const said = await stage.work((api) => api.add(1, 'labels', ['settings', 'nobody-made-it']))
  t.match(said, [/^Gitea has no label "nobody-made-it" .*; have it created/])
  t.equal(said.length, 1)
  t.strictSame(pull.labels, ['urgent', 'settings'])
  t.strictSame(stage.lines(), ['POST /issues/1/labels'])
})

test('labels need a scope of their own, which is named', async (t, stage) => {
  addPull(stage.model, OPEN)
  const message =
    'token does not have at least one of required scope(s), required=[write:issue], token scope=write:repository'
  stage.host.fail({ kind: 'answer', answer: { status: 403, body: { message } } })
  t.match(await stage.failure((api) => api.add(1, 'labels', ['settings'])), {
    reason: 'PermissionDenied',
    message: /"write:issue"/,
  })
})

test('an unexpected answer to labels is not accepted', async (t, stage) => {
  addPull(stage.model, OPEN)
  stage.host.fail({ kind: 'answer', answer: { status: 200, body: {} } })
  t.match(await stage.failure((api) => api.add(1, 'labels', ['settings'])), {
    reason: 'ProviderUnavailable',
  })
})

test('a reviewer who was requested, or has given a review, is not requested again', async (t, stage) => {
  addPull(stage.model, { ...OPEN, reviewers: ['ops'] })
  stage.model.people.add('developer')
  stage.host.fail(
    {
      kind: 'answer',
      answer: { status: 200, body: [{ user: { login: 'Dev' }, state: 'APPROVED' }, { user: null }] },
    },
    (_, path) => path.includes('/reviews'),
  )
  t.strictSame(await stage.work((api) => api.add(1, 'reviewers', ['dev', 'OPS', 'developer'])), [])
  t.strictSame(written(stage), [{ reviewers: ['developer'] }])
})

test('long reviews of strangers keep nobody from being requested', async (t, stage) => {
  stage.model.people.add('developer')
  addPull(stage.model, { ...OPEN, reviewers: ['ops'] })
  const review = (login: string, body = ''): object => ({ user: { login }, body })
  const reviews = [review('stranger', 'x'.repeat(3 * 1_048_576)), review('dev')]
  for (let time = 0; time < 4; time += 1)
    stage.host.fail({ kind: 'reply', reply: ({ url }) => pageOf(url, reviews) }, (_, path) =>
      path.includes('/reviews'),
    )
  t.strictSame(await stage.work((api) => api.add(1, 'reviewers', ['dev', 'ops', 'developer'])), [])
  t.strictSame(written(stage), [{ reviewers: ['developer'] }])
})

test('reviewers that Gitea refuses are named one by one, and the others requested', async (t, stage) => {
  const pull = addPull(stage.model, OPEN)
  const names = ['dev', OUTSIDER, 'stranger', AUTHOR, 'ops']
  const said = await stage.work((api) => api.add(1, 'reviewers', names))
  t.match(said, [
    /does not accept "outsider" as a reviewer \(422: "Reviewer can't read \[.*\]"\); name a user/,
    /does not accept "stranger" as a reviewer \(404: "User 'stranger' not exist"\)/,
    /does not accept "commitlet" as a reviewer \(422: "poster of pr can't be reviewer/,
  ])
  t.equal(said.length, 3)
  t.strictSame(pull.reviewers, ['dev', 'ops'])
  t.equal(written(stage).length, 1 + names.length)
})

for (const [detail, which] of [
  ['reviewers', 'GET'],
  ['assignees', 'GET'],
  ['assignees', 'PATCH'],
] as const) {
  test(`a ${which} that shows another pull request is not used (${detail})`, async (t, stage) => {
    addPull(stage.model, OPEN)
    stage.host.fail(
      { kind: 'changed', change: (answer) => ({ ...answer, body: { ...Object(answer.body), number: 7 } }) },
      (method) => method === which,
    )
    t.match(await stage.failure((api) => api.add(1, detail, ['dev'])), {
      reason: 'ProviderUnavailable',
    })
  })
}

test('a web page instead of the reviews is not accepted', async (t, stage) => {
  addPull(stage.model, OPEN)
  const answer = { status: 201, body: '<!doctype html>' }
  stage.host.fail({ kind: 'answer', answer }, (method) => method === 'POST')
  t.match(await stage.failure((api) => api.add(1, 'reviewers', ['ops'])), {
    reason: 'ProviderUnavailable',
  })
})

test('a pull request that is gone is not an unknown reviewer', async (t, stage) => {
  addPull(stage.model, OPEN)
  stage.host.fail({ kind: 'answer', answer: NOT_FOUND }, (method) => method === 'POST')
  t.match(await stage.failure((api) => api.add(1, 'reviewers', ['dev'])), {
    reason: 'RepositoryNotFound',
  })
})

test('assignees stay, and are written with the new ones, with the scope for opening', async (t, stage) => {
  const pull = addPull(stage.model, { ...OPEN, body: 'kept', assignees: ['ops'] })
  t.strictSame(await stage.work((api) => api.add(1, 'assignees', ['dev', 'OPS'])), [])
  t.match(pull, { title: 'open', body: 'kept', assignees: ['ops', 'dev'] })
  t.strictSame(stage.lines(), ['GET /pulls/1', 'PATCH /pulls/1'])
  t.strictSame(await stage.work((api) => api.add(1, 'assignees', ['dev'])), [])
  t.equal(written(stage).length, 1, 'nobody is left to assign')
})

test('assignees that Gitea refuses are named one by one, and the others assigned', async (t, stage) => {
  const pull = addPull(stage.model, { ...OPEN, assignees: ['ops'] })
  stage.model.people.add('developer')
  const said = await stage.work((api) => api.add(1, 'assignees', ['dev', OUTSIDER, 'stranger', 'developer']))
  t.match(said, [
    /does not assign "outsider" \(500\); name a user who may write/,
    /does not assign "stranger" \(422: "Assignee does not exist: .*"\)/,
  ])
  t.equal(said.length, 2)
  t.strictSame(pull.assignees, ['ops', 'dev', 'developer'])
})

test('an assignee that Gitea leaves out silently is named', async (t, stage) => {
  addPull(stage.model, OPEN)
  stage.host.fail(
    {
      kind: 'changed',
      change: (answer) => ({ ...answer, body: { ...Object(answer.body), assignees: null } }),
    },
    (method) => method === 'PATCH',
  )
  const said = await stage.work((api) => api.add(1, 'assignees', ['dev']))
  t.match(said, [/does not assign "dev"; name a user .*, and use a token of a user who also may\./])
  t.equal(said.length, 1)
})

test('a credentials failure while adding is thrown, not reported as a detail', async (t, stage) => {
  addPull(stage.model, OPEN)
  stage.model.tokens.set('good-token', 'read')
  for (const detail of ['labels', 'reviewers', 'assignees'] as const) {
    const names = detail === 'labels' ? ['settings'] : ['dev']
    t.match(await stage.failure((api) => api.add(1, detail, names)), { reason: 'PermissionDenied' })
  }
})

for (const detail of ['reviewers', 'assignees'] as const)
  test(`after ten ${detail} that Gitea refuses the others are not tried`, async (t, stage) => {
    const pull = addPull(stage.model, OPEN)
    const names = ['dev', ...Array.from({ length: 49 }, (_, index) => `stranger-${index}`)]
    const said = await stage.work((api) => api.add(1, detail, names))
    t.equal(said.length, 11)
    t.match(said.at(-1), /refused 10 names, so 39 more were not tried/)
    t.strictSame(pull[detail], ['dev'])
    t.equal(written(stage).length, 1 + 1 + 10)
  })

test('of many labels that Gitea skips ten are named, and the others counted', async (t, stage) => {
  addPull(stage.model, OPEN)
  const names = Array.from({ length: 50 }, (_, index) => `nobody-made-${index}`)
  const said = await stage.work((api) => api.add(1, 'labels', names))
  t.equal(said.length, 11)
  t.match(said.at(-1), /of 40 more/)
})
