import type { HostCases } from './host-cases.ts'

const PULL = { title: 'Add a claim', head: 'claims', base: 'main', body: 'text' }

const CASES: HostCases['cases'] = [
  { line: 'GET /repos/acme/app/pulls?state=open&head=acme:claims&base=main&per_page=100&page=2' },
  { line: 'GET /repos/acme/app/pulls/7' },
  { line: 'GET /repos/acme/app' },
  { line: 'GET /repos/acme/app/branches/team%2Fclaims' },
  { line: 'GET /repos/acme/app/branches/team/claims' },
  { line: 'GET /repos/acme/app/pulls/7/requested_reviewers' },
  { line: 'GET /repos/acme/app/pulls/7/reviews?per_page=100' },
  { line: 'POST /repos/acme/app/pulls', body: { ...PULL, draft: true } },
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
  { line: 'POST /repos/acme/app/pulls', body: { ...PULL, labels: [] }, says: [/knows no field labels/] },
  {
    line: 'POST /repos/acme/app/pulls',
    body: PULL,
    contentType: 'text/plain',
    says: [/of type text\/plain/],
  },
  { line: 'POST /repos/acme/app/issues/7/labels', body: { labels: [] }, says: [/fewer than 1/, /in oneOf/] },
]

/** What GitHub's description allows, and what it does not. */
export const GITHUB_CASES: HostCases = {
  name: 'github',
  aliases: [{ from: /^\/repositories\/\d+(?=\/|$)/, to: '/repos/acme/app' }],
  cases: CASES,
}
