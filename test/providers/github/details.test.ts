import t from 'tap'
import { addPull } from '../../harness/hosts/model.ts'
import { said } from '../../harness/hosts/github-literal.ts'
import { startGitHub, withBody } from './stage.ts'
import { pageOf, type PortStage } from '../port-stage.ts'

const OPEN = { base: 'main', head: 'settings', title: 'Settings' }

function posted({ host }: PortStage): readonly unknown[] {
  return host.seen.filter(({ method }) => method === 'POST').map(({ body }) => body)
}

t.test('a reviewer who was requested, or has given a review, is not requested again', async (t) => {
  const stage = await startGitHub(t)
  const { host, model, work } = stage
  model.people.add('developer')
  addPull(model, { ...OPEN, reviewers: ['ops'] })
  const reviews = [{ user: { login: 'Dev' }, state: 'APPROVED' }, { user: null }]
  const reviewed = (): void =>
    host.fail({ kind: 'changed', change: (answer) => ({ ...answer, body: reviews }) }, (_method, path) =>
      path.endsWith('/reviews'),
    )
  reviewed()
  t.strictSame(await work((pulls) => pulls.add(1, 'reviewers', ['dev', 'OPS', 'developer'])), [])
  t.strictSame(posted(stage), [{ reviewers: ['developer'] }])
  reviewed()
  t.strictSame(await work((pulls) => pulls.add(1, 'reviewers', ['dev', 'ops'])), [])
  t.equal(posted(stage).length, 1, 'nobody is left to ask')
})

t.test('teams are refused by name, and the users with them requested', async (t) => {
  const stage = await startGitHub(t)
  addPull(stage.model, OPEN)
  const complaints = await stage.work((pulls) => pulls.add(1, 'reviewers', ['acme/shop-team', 'dev']))
  t.match(complaints, [/"acme\/shop-team" is a team/])
  t.equal(complaints.length, 1)
  t.strictSame(posted(stage), [{ reviewers: ['dev'] }])
})

t.test('long reviews of strangers keep nobody from being requested', async (t) => {
  const stage = await startGitHub(t)
  stage.model.people.add('developer')
  addPull(stage.model, { ...OPEN, reviewers: ['ops'] })
  const long = Array.from({ length: 29 }, () => ({ user: { login: 'stranger' }, body: '世'.repeat(65_536) }))
  const reviews = [...long, { user: { login: 'dev' } }]
  for (let time = 0; time < 7; time += 1)
    stage.host.fail({ kind: 'reply', reply: ({ url }) => pageOf(url, reviews) }, (_, path) =>
      path.endsWith('/reviews'),
    )
  t.strictSame(await stage.work((pulls) => pulls.add(1, 'reviewers', ['dev', 'ops', 'developer'])), [])
  t.strictSame(posted(stage), [{ reviewers: ['developer'] }])
})

t.test('a reviewer that GitHub refuses does not affect the others', async (t) => {
  const stage = await startGitHub(t)
  addPull(stage.model, OPEN)
  const complaints = await stage.work((pulls) => pulls.add(1, 'reviewers', ['dev', 'nobody', 'ops']))
  t.match(complaints, [/"nobody" cannot be asked .*not a collaborator.*; name the login/])
  t.equal(complaints.length, 1)
  t.strictSame(stage.model.pulls[0]?.reviewers, ['dev', 'ops'])
  t.equal(posted(stage).length, 4, 'all at once, then each')
})

t.test('the message of a refusal never shows the token', async (t) => {
  const { host, model, work } = await startGitHub(t)
  addPull(model, OPEN)
  const answer = said(422, 'Could not add good-token')
  host.fail({ kind: 'answer', answer })
  const complaints = await work((pulls) => pulls.add(1, 'labels', ['urgent']))
  t.strictSame(complaints, [
    'GitHub did not add the label "urgent" ("Could not add ***"); name a label that the repository has.',
  ])
})

t.test('a user that GitHub leaves out of the answer was not added', async (t) => {
  const { host, model, work } = await startGitHub(t)
  addPull(model, { ...OPEN, assignees: ['ops'] })
  const complaints = await work((pulls) => pulls.add(1, 'assignees', ['dev', 'nobody']))
  t.match(complaints, [/"nobody" cannot be assigned/])
  t.strictSame(model.pulls[0]?.assignees, ['ops', 'dev'])
  host.fail({ kind: 'changed', change: withBody({ requested_reviewers: [] }) }, (method) => method === 'POST')
  t.match(await work((pulls) => pulls.add(1, 'reviewers', ['dev'])), [/"dev" cannot be asked/])
  host.fail({ kind: 'changed', change: (answer) => ({ ...answer, body: [] }) })
  t.match(await work((pulls) => pulls.add(1, 'labels', ['urgent'])), [/did not add the label "urgent"/])
})

t.test('labels are compared in any case, and those that are there stay', async (t) => {
  const { host, model, work } = await startGitHub(t)
  addPull(model, { ...OPEN, labels: ['settings'] })
  const shout = (): void =>
    host.fail({ kind: 'changed', change: (answer) => ({ ...answer, body: [{ name: 'Urgent' }] }) })
  shout()
  t.strictSame(await work((pulls) => pulls.add(1, 'labels', ['URGENT'])), [])
  t.strictSame(model.pulls[0]?.labels, ['settings', 'URGENT'])
})

t.test('an uninformative answer is not accepted, and a refusal of all is thrown', async (t) => {
  const { host, model, failure } = await startGitHub(t)
  addPull(model, OPEN)
  for (const detail of ['labels', 'reviewers', 'assignees'] as const) {
    const isPost = (method: string): boolean => method === 'POST'
    host.fail({ kind: 'changed', change: (answer) => ({ ...answer, body: {} }) }, isPost)
    t.match(await failure((pulls) => pulls.add(1, detail, ['dev'])), { reason: 'ProviderUnavailable' })
    host.fail({ kind: 'changed', change: (answer) => ({ ...answer, status: 202 }) }, isPost)
    t.match(await failure((pulls) => pulls.add(1, detail, ['urgent'])), { reason: 'ProviderUnavailable' })
    host.fail({ kind: 'answer', answer: said(403, 'Resource not accessible by integration') }, isPost)
    t.match(await failure((pulls) => pulls.add(1, detail, ['ops'])), { reason: 'PermissionDenied' })
  }
  host.fail({ kind: 'changed', change: (answer) => ({ ...answer, body: [] }) })
  t.match(await failure((pulls) => pulls.add(1, 'reviewers', ['dev'])), { reason: 'ProviderUnavailable' })
})

t.test('after ten refusals the others are not tried', async (t) => {
  const { host, model, work } = await startGitHub(t)
  addPull(model, OPEN)
  const names = Array.from({ length: 50 }, (_, index) => `label-${index}`)
  const answer = { status: 422, body: { message: 'Validation Failed' } }
  for (let call = 0; call < 60; call += 1) host.fail({ kind: 'answer', answer })
  const complaints = await work((pulls) => pulls.add(1, 'labels', names))
  t.equal(complaints.length, 11)
  t.match(complaints.at(-1), /40 more were not tried/)
  t.equal(host.seen.length, 1 + 10)
})

t.test(
  'a name is shown without control and format characters, the token, and more than 200 characters',
  async (t) => {
    const { host, model, work } = await startGitHub(t)
    addPull(model, OPEN)
    const raw = `a\nb\u202ec\u001b[31m good-token ${'x'.repeat(250)}`
    const plain = `a b c *** ${'x'.repeat(189)}…`
    const answer = { status: 422, body: { message: 'Validation Failed' } }
    for (const detail of ['labels', 'reviewers', 'assignees'] as const) {
      host.fail({ kind: 'answer', answer }, (method) => method === 'POST')
      const [refused] = await work((pulls) => pulls.add(1, detail, [raw]))
      t.ok(refused?.includes(`"${plain}"`), String(refused))
    }
    const [team] = await work((pulls) => pulls.add(1, 'reviewers', ['acme/a\nb\u202ec']))
    t.match(team, /^"acme\/a b c" is a team/)
  },
)

t.test('of many teams ten are named, and the others counted', async (t) => {
  const { model, work } = await startGitHub(t)
  addPull(model, OPEN)
  const names = Array.from({ length: 50 }, (_, index) => `acme/team-${index}`)
  const said = await work((pulls) => pulls.add(1, 'reviewers', names))
  t.equal(said.length, 11)
  t.match(said.at(-1), /of 40 more/)
})
