import t from 'tap'
import { said } from '../../harness/hosts/github-literal.ts'
import { addPull } from '../../harness/hosts/model.ts'
import { startGitHub, withBody } from './stage.ts'
import { BRANCHES, DRAFT } from '../port-stage.ts'

const FORK = { ...BRANCHES, headOwner: 'dev' }

t.test('the branch of a fork is opened and found by its owner, whatever else has its name', async (t) => {
  const { model, work } = await startGitHub(t)
  model.branches.set('settings', 5, 'dev')
  addPull(model, { base: 'main', head: 'settings', title: 'own' })
  addPull(model, { base: 'main', head: 'settings', headOwner: 'ops', title: 'of another fork' })
  const opened = await work((pulls) => pulls.create({ ...DRAFT, branches: FORK }))
  t.match(opened, { number: 3, state: 'open' })
  t.match(model.pulls[2], { head: 'settings', headOwner: 'dev' })
  t.match(await work((pulls) => pulls.find(FORK, 'open')), [{ number: 3 }])
  t.match(await work((pulls) => pulls.find(BRANCHES, 'open')), [{ number: 1 }])
  t.match(await work((pulls) => pulls.find({ ...FORK, headOwner: 'DEV' }, 'open')), [{ number: 3 }])
  t.equal(await work((pulls) => pulls.read(2, FORK)), undefined)
})

t.test("the repository's own owner before the branch means the repository, not a fork", async (t) => {
  const { model, work } = await startGitHub(t)
  const own = { ...BRANCHES, headOwner: 'acme' }
  await work((pulls) => pulls.create({ ...DRAFT, branches: own }))
  t.match(model.pulls, [{ head: 'settings', headOwner: undefined }])
  t.match(await work((pulls) => pulls.find(own, 'open')), [{ number: 1 }])
})

t.test('more than a hundred are all found, newest first, at most ten pages', async (t) => {
  const { host, model, work } = await startGitHub(t)
  for (let index = 0; index < 150; index += 1)
    addPull(model, { base: 'main', head: 'settings', title: `${index}`, state: 'closed' })
  const found = await work((pulls) => pulls.find(BRANCHES, 'all'))
  t.equal(found.length, 150)
  t.same([found[0]?.number, found.at(-1)?.number], [150, 1])
  t.equal(host.seen.length, 5)

  const link = '<https://evil.example/repositories/1/pulls?page=2>; rel="next"'
  for (let page = 1; page <= 20; page += 1)
    host.fail({ kind: 'changed', change: (answer) => ({ ...answer, headers: { link } }) })
  await work((pulls) => pulls.find(BRANCHES, 'all'))
  t.equal(host.seen.length, 15, 'however long the host says that there is more')
  t.ok(host.seen.every(({ path }) => path.startsWith('/repos/acme/shop/pulls?')))
})

t.test('a draft is opened as one, and title and body change later without ending that', async (t) => {
  const { host, model, work } = await startGitHub(t)
  const shown = await work((pulls) => pulls.create({ ...DRAFT, draft: true }))
  if (shown === 'exists') return t.fail('it is there already')
  await work((pulls) => pulls.update(shown, { title: '12345678901234567890n', body: 'line\nline' }))
  t.match(model.pulls, [{ draft: true, title: '12345678901234567890n', body: 'line\nline' }])
  t.strictSame(host.seen[1]?.body, { title: '12345678901234567890n', body: 'line\nline' })
})

t.test('an update that the answer does not confirm is not accepted', async (t) => {
  const { host, failure, work } = await startGitHub(t)
  const shown = await work((pulls) => pulls.create(DRAFT))
  if (shown === 'exists') return t.fail('it is there already')
  for (const change of [withBody({ number: 2 }), withBody({ title: 7 })]) {
    host.fail({ kind: 'changed', change })
    const unsure = await failure((pulls) => pulls.update(shown, { title: 'a', body: 'b' }))
    t.match(unsure, { reason: 'ProviderUnavailable' })
  }
  host.fail({ kind: 'answer', answer: said(422, 'Validation Failed') })
  const refused = await failure((pulls) => pulls.update(shown, { title: 'a', body: 'b' }))
  t.match(refused, { reason: 'PullRequestRejected' })
})

t.test('where more of others are listed than are read, one may be open: nothing is opened', async (t) => {
  const { host, failure } = await startGitHub(t)
  const headers = { link: `<${host.origin}/>; rel="next"` }
  const answer = { status: 200, headers, body: [] }
  for (let page = 1; page <= 10; page += 1) host.fail({ kind: 'answer', answer })
  t.match(await failure((pulls) => pulls.find(BRANCHES, 'open')), { reason: 'Conflict' })
  t.equal(host.seen.length, 10)
})
