import t from 'tap'
import type { HostAnswer } from '../../harness/hosts/dialect.ts'
import { addPull } from '../../harness/hosts/model.ts'
import { startGitLab } from './stage.ts'
import { BRANCHES } from '../port-stage.ts'

const MERGE = '/projects/acme%2Fshop/merge_requests/1'

for (const [detail, field] of [
  ['reviewers', 'reviewer_ids'],
  ['assignees', 'assignee_ids'],
] as const) {
  t.test(`${detail} are united with those who are there`, async (t) => {
    const { host, model, work, lines } = await startGitLab(t)
    model.people.add('tenant')
    addPull(model, { ...BRANCHES, title: 'Settings', [detail]: ['tenant'] })
    const said = await work((pullRequests) => pullRequests.add(1, detail, ['dev', 'tenant', 'ops']))
    t.strictSame(said, [])
    t.strictSame(model.pulls[0]?.[detail], ['tenant', 'dev', 'ops'])
    t.strictSame(lines(), ['GET /users', 'GET /users', 'GET /users', `GET ${MERGE}`, `PUT ${MERGE}`])
    t.strictSame(host.seen.at(-1)?.body, { [field]: [102, 100, 101] })
  })

  t.test(`${detail} who are there already are not written again`, async (t) => {
    const { model, work, lines } = await startGitLab(t)
    addPull(model, { ...BRANCHES, title: 'Settings', [detail]: ['dev'] })
    t.strictSame(await work((pullRequests) => pullRequests.add(1, detail, ['dev'])), [])
    t.strictSame(lines(), ['GET /users', `GET ${MERGE}`])
  })

  t.test(`where GitLab accepts only one of the ${detail} the others are reported`, async (t) => {
    const { host, model, work } = await startGitLab(t)
    addPull(model, { ...BRANCHES, title: 'Settings', [detail]: ['dev'] })
    const change = (answer: HostAnswer): HostAnswer => withBody(answer, { [detail]: [{ id: 100 }] })
    host.fail({ kind: 'changed', change }, (method) => method === 'PUT')
    const said = await work((pullRequests) => pullRequests.add(1, detail, ['ops']))
    t.match(said, [/^GitLab did not add "ops"; .+ more than one \(its free tier does not\)\.$/])
  })
}

t.test('a user that GitLab does not know is reported, and no other user is added instead', async (t) => {
  const { host, model, work, lines } = await startGitLab(t)
  addPull(model, { ...BRANCHES, title: 'Settings' })
  const change = (answer: HostAnswer): HostAnswer => ({ ...answer, body: [{ id: 100, username: 'dev-2' }] })
  host.fail({ kind: 'changed', change }, (_method, path) => path === '/users')
  const said = await work((pullRequests) => pullRequests.add(1, 'reviewers', ['dev', 'nobody\u202e']))
  t.match(said, [/^GitLab does not know the user "dev"; /, /^GitLab does not know the user "nobody"; /])
  t.strictSame(lines(), ['GET /users', 'GET /users'])
})

t.test('user names are found in any case', async (t) => {
  const { host, model, work } = await startGitLab(t)
  addPull(model, { ...BRANCHES, title: 'Settings' })
  const change = (answer: HostAnswer): HostAnswer => ({ ...answer, body: [{ id: 100, username: 'dev' }] })
  host.fail({ kind: 'changed', change }, (_method, path) => path === '/users')
  t.strictSame(await work((pullRequests) => pullRequests.add(1, 'assignees', ['Dev'])), [])
  t.strictSame(model.pulls[0]?.assignees, ['dev'])
})

t.test('labels are added to those that are there, in one request', async (t) => {
  const { host, model, work, lines } = await startGitLab(t)
  addPull(model, { ...BRANCHES, title: 'Settings', labels: ['urgent'] })
  t.strictSame(await work((pullRequests) => pullRequests.add(1, 'labels', ['settings', 'scope::a b'])), [])
  t.strictSame(model.pulls[0]?.labels, ['urgent', 'settings', 'scope::a b'])
  t.strictSame(lines(), [`PUT ${MERGE}`])
  t.strictSame(host.seen[0]?.body, { add_labels: 'settings,scope::a b' })
})

t.test('a label with a comma is reported, and the others are added', async (t) => {
  const { model, work, lines } = await startGitLab(t)
  addPull(model, { ...BRANCHES, title: 'Settings' })
  const said = await work((pullRequests) => pullRequests.add(1, 'labels', ['a,b', 'settings']))
  t.match(said, [/^GitLab labels cannot have a comma in their name, as "a,b" has; /])
  t.strictSame(model.pulls[0]?.labels, ['settings'])
  t.match(await work((pullRequests) => pullRequests.add(1, 'labels', [','])), [/a comma/])
  t.equal(lines().length, 1, 'nothing is asked for a comma alone')
})

t.test('a label that GitLab leaves out is reported', async (t) => {
  const { host, model, work } = await startGitLab(t)
  addPull(model, { ...BRANCHES, title: 'Settings' })
  const change = (answer: HostAnswer): HostAnswer => withBody(answer, { labels: ['settings'] })
  host.fail({ kind: 'changed', change })
  const said = await work((pullRequests) => pullRequests.add(1, 'labels', ['settings', 'new']))
  t.match(said, [/^GitLab did not add the label "new"; /])
})

function withBody(answer: HostAnswer, change: Readonly<Record<string, unknown>>): HostAnswer {
  return { ...answer, body: { ...Object(answer.body), ...change } }
}

t.test('of many labels that GitLab leaves out ten are named, and the others counted', async (t) => {
  const { host, model, work } = await startGitLab(t)
  addPull(model, { ...BRANCHES, title: 'Settings' })
  const names = Array.from({ length: 50 }, (_, index) => `label-${index}`)
  host.fail({ kind: 'changed', change: (answer) => withBody(answer, { labels: [] }) })
  const said = await work((pullRequests) => pullRequests.add(1, 'labels', names))
  t.equal(said.length, 11)
  t.match(said.at(-1), /of 40 more/)
})

t.test('of many users that GitLab does not know ten are named, and the others counted', async (t) => {
  const { model, work } = await startGitLab(t)
  addPull(model, { ...BRANCHES, title: 'Settings' })
  const names = ['dev', ...Array.from({ length: 49 }, (_, index) => `nobody-${index}`)]
  const said = await work((pullRequests) => pullRequests.add(1, 'assignees', names))
  t.equal(said.length, 11)
  t.match(said.at(-1), /of 39 more/)
  t.strictSame(model.pulls[0]?.assignees, ['dev'])
})
