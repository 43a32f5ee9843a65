import t from 'tap'
import { readDescription } from './description.ts'
import type { Alias, HostRequest } from './description.ts'

interface Case {
  /** `POST /path?query`; the query is optional. */
  readonly line: string
  readonly body?: unknown
  readonly contentType?: string
  /** What the complaints have to match, one each; absent: there are none. */
  readonly says?: readonly RegExp[]
}

function requestOf({ line, body, contentType = 'application/json' }: Case): HostRequest {
  const [, method = '', path = '', query = ''] = /^(\S+) ([^?]+)\??(.*)$/.exec(line) ?? []
  return {
    method,
    path,
    query: new URLSearchParams(query),
    contentType: body === undefined ? undefined : contentType,
    body,
  }
}

const PULL = { title: 'Add a claim', head: 'claims', base: 'main', body: 'text', draft: true }

const GITHUB: readonly Case[] = [
  { line: 'GET /repos/acme/app/pulls?state=open&head=acme:claims&base=main&per_page=100&page=2' },
  { line: 'GET /repos/acme/app/pulls/7' },
  { line: 'GET /repos/acme/app' },
  { line: 'GET /repos/acme/app/branches/team%2Fclaims' },
  { line: 'GET /repos/acme/app/branches/team/claims' },
  { line: 'GET /repos/acme/app/pulls/7/requested_reviewers' },
  { line: 'GET /repos/acme/app/pulls/7/reviews?per_page=100' },
  { line: 'POST /repos/acme/app/pulls', body: PULL },
  { line: 'POST /repos/acme/app/pulls', body: PULL, contentType: 'application/json; charset=utf-8' },
  { line: 'PATCH /repos/acme/app/pulls/7', body: { title: 'new', body: 'new' } },
  { line: 'POST /repos/acme/app/pulls/7/requested_reviewers', body: { reviewers: ['dev'] } },
  { line: 'POST /repos/acme/app/issues/7/labels', body: { labels: ['storage'] } },
  { line: 'POST /repos/acme/app/issues/7/assignees', body: { assignees: ['dev'] } },
  { line: 'POST /repositories/42/pulls', body: PULL },
  { line: 'GET /nowhere', says: [/There is no path \/nowhere/] },
  { line: 'GET /repos/acme/app/pulls/7/merge', says: [/There is no path/] },
  { line: 'PUT /repos/acme/app/pulls/7', body: {}, says: [/There is no method PUT/] },
  { line: 'GET /repos/acme/app/pulls?limit=5', says: [/knows no limit in the query/] },
  {
    line: 'GET /repos/acme/app/pulls?state=opened',
    says: [/state in the query must be .*\(open, closed, all\)/],
  },
  { line: 'GET /repos/acme/app/pulls?page=first', says: [/page in the query must be integer/] },
  { line: 'GET /repos/acme/app/pulls?page=1&page=2', says: [/page is in the query more than once/] },
  { line: 'GET /repos/acme/app/pulls/seven', says: [/pull_number in the path must be integer/] },
  { line: 'GET /repos/acme/app/branches/%zz', says: [/branch in the path is not percent-encoded/] },
  { line: 'GET /repos/acme/app', body: {}, says: [/takes no body/] },
  { line: 'POST /repos/acme/app/pulls', says: [/the body is missing/] },
  {
    line: 'POST /repos/acme/app/pulls',
    body: { base: 'main' },
    says: [/must have required property 'head'/],
  },
  {
    line: 'POST /repos/acme/app/pulls',
    body: { ...PULL, title: 7 },
    says: [/the body \/title must be string/],
  },
  { line: 'POST /repos/acme/app/pulls', body: { ...PULL, labels: [] }, says: [/it knows no field labels/] },
  {
    line: 'POST /repos/acme/app/pulls',
    body: PULL,
    contentType: 'text/plain',
    says: [/of type text\/plain/],
  },
  {
    line: 'POST /repos/acme/app/issues/7/labels',
    body: { labels: [] },
    says: [/\/labels must NOT have fewer/, /one schema in oneOf/],
  },
]

interface Host {
  readonly name: string
  readonly cases: readonly Case[]
  readonly aliases?: readonly Alias[]
}

const HOSTS: readonly Host[] = [
  {
    name: 'github',
    cases: GITHUB,
    aliases: [{ from: /^\/repositories\/\d+(?=\/|$)/, to: '/repos/owner/name' }],
  },
]

for (const { name, cases, aliases } of HOSTS) {
  t.test(`${name} allows what its description names and nothing else`, async (t) => {
    const description = readDescription(name, aliases)
    for (const one of cases) {
      const complaints = description.complaints(requestOf(one))
      const title = `${one.line} ${JSON.stringify(one.body ?? null)}`
      t.match(complaints, one.says ?? [], title)
      t.equal(complaints.length, one.says?.length ?? 0, `${title}: ${complaints.join(' ')}`)
    }
  })
}

t.test('an answer is held against the schema of its status, where there is one', async (t) => {
  const description = readDescription('github')
  const request = requestOf({ line: 'GET /repos/acme/app/pulls/7/requested_reviewers' })
  t.same(description.answerComplaints(request, 200, { users: [], teams: [] }), [])
  t.match(description.answerComplaints(request, 200, { users: [] }), [/must have required property 'teams'/])
  t.same(description.answerComplaints(request, 418, 'anything'), [])
  t.same(description.answerComplaints(requestOf({ line: 'GET /nowhere' }), 200, {}), [])
})

t.test('null is allowed where the description says nullable', async (t) => {
  const description = readDescription('github')
  const request = requestOf({ line: 'GET /repos/acme/app/branches/main' })
  const complaints = description.answerComplaints(request, 200, { name: null, commit: { author: null } })
  t.ok(complaints.some((complaint) => /\/name must be string/.test(complaint)))
  t.notOk(complaints.some((complaint) => /\/commit\/author /.test(complaint)))
})

t.test('a description that is not there is an error', async (t) => {
  t.throws(() => readDescription('nohost'), /ENOENT/)
})
