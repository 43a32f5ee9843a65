import { AUTHOR } from '../../harness/hosts/bitbucket-bodies.ts'
import { addPull } from '../../harness/hosts/model.ts'
import { DEV, OPS, STRANGERS, test } from './stage.ts'
import { BRANCHES } from '../port-stage.ts'

test('a reviewer who is there already needs no write', async (t, stage) => {
  addPull(stage.model, { ...BRANCHES, title: 'open', reviewers: [DEV] })
  t.strictSame(await stage.work((api) => api.add(1, 'reviewers', [DEV.toUpperCase()])), [])
  t.equal(stage.writes(), 0)
})

test('reviewers that Bitbucket refuses are named one by one, and the others are added', async (t, stage) => {
  const pull = addPull(stage.model, { ...BRANCHES, title: 'open', body: 'kept' })
  const [first, second] = STRANGERS
  const said = await stage.work((api) =>
    api.add(1, 'reviewers', [first!, DEV, AUTHOR.account_id, OPS, second!]),
  )
  t.match(said, [
    new RegExp(`does not accept ${first} as a reviewer \\("reviewers: Malformed reviewers list"\\)`),
    /does not accept 557058:\S+ as a reviewer \(".* is the author and cannot be included as a reviewer\."\)/,
    new RegExp(`does not accept ${second} as a reviewer`),
  ])
  t.equal(said.length, 3)
  t.match(pull, { reviewers: [DEV, OPS], title: 'open', body: 'kept' })
})

test('one unknown reviewer among fifty is found with a dozen requests', async (t, stage) => {
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

test('after ten reviewers that Bitbucket refuses the others are not tried', async (t, stage) => {
  const many = Array.from(
    { length: 50 },
    (_, index) => `{00000000-0000-0000-0000-${String(index).padStart(12, '0')}}`,
  )
  addPull(stage.model, { ...BRANCHES, title: 'open' })
  const said = await stage.work((api) => api.add(1, 'reviewers', many))
  t.equal(said.length, 11)
  t.match(said.at(-1), /refused 10 names, so 40 more were not tried/)
  t.ok(stage.writes() < 30, `${stage.writes()} requests`)
})

test('a credentials failure while adding is thrown, not reported as a detail', async (t, stage) => {
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
    const names = Array.from({ length: 12 }, (_, index) => `n${index}`)
    const many = await stage.work((api) => api.add(1, detail, names))
    t.match(many, [/ so n0, n1, .*, n9, and 2 more could not/])
  }
  t.equal(stage.host.seen.length, 0)
})

test('a name is shown without control and format characters, the token, and more than 200 characters', async (t, stage) => {
  addPull(stage.model, { ...BRANCHES, title: 'open' })
  const raw = `a\nb\u202ec\u001b[31m good-token ${'x'.repeat(250)}`
  const plain = `a b c *** ${'x'.repeat(189)}…`
  const [label] = await stage.work((api) => api.add(1, 'labels', [raw, 'd']))
  t.ok(label?.includes(`so ${plain}, d could`), String(label))
  const [reviewer] = await stage.work((api) => api.add(1, 'reviewers', [raw]))
  t.ok(reviewer?.startsWith(`Bitbucket does not accept ${plain} as a reviewer`), String(reviewer))
})
