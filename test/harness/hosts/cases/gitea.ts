import type { HostCases } from './host-cases.ts'

const PULL = { title: 'Add a claim', head: 'claims', base: 'main', body: 'text' }

const CASES: HostCases['cases'] = [
  { line: 'GET /repos/acme/app/pulls?state=open&base_branch=main&limit=50&page=2' },
  { line: 'GET /repos/acme/app/pulls?labels=1&labels=2' },
  { line: 'GET /repos/acme/app/pulls/main/team%2Fclaims' },
  { line: 'GET /repos/acme/app/pulls/7' },
  { line: 'GET /repos/acme/app/pulls/7/reviews?limit=50' },
  { line: 'GET /repos/acme/app/commits?sha=refs%2Fheads%2Fteam%2Fclaims&not=main&limit=1&files=false' },
  { line: 'GET /repos/acme/app/branches/team%2Fclaims' },
  { line: 'GET /repos/acme/app' },
  {
    line: 'POST /repos/acme/app/pulls',
    body: { ...PULL, assignees: ['dev'], labels: [1], reviewers: ['dev'] },
  },
  { line: 'PATCH /repos/acme/app/pulls/7', body: { title: 'new', body: 'new' } },
  { line: 'PATCH /repos/acme/app/pulls/7', body: { assignees: ['dev'] } },
  { line: 'POST /repos/acme/app/pulls/7/requested_reviewers', body: { reviewers: ['dev'] } },
  { line: 'POST /repos/acme/app/issues/7/labels', body: { labels: ['storage', 1] } },
  { line: 'GET /api/v1/repos/acme/app', says: [/There is no path/] },
  { line: 'POST /repos/acme/app/pulls/7/reviews', body: {}, says: [/There is no method POST/] },
  { line: 'GET /repos/acme/app/pulls?head=acme:claims', says: [/knows no head in the query/] },
  { line: 'GET /repos/acme/app/pulls?per_page=50', says: [/knows no per_page/] },
  { line: 'GET /repos/acme/app/commits?not=main&stat=no', says: [/stat in the query must be boolean/] },
  { line: 'GET /repos/acme/app/pulls?page=0', says: [/page in the query must be >= 1/] },
  { line: 'GET /repos/acme/app/pulls/seven', says: [/index in the path must be integer/] },
  { line: 'POST /repos/acme/app/pulls', body: { ...PULL, draft: true }, says: [/knows no field draft/] },
  {
    line: 'POST /repos/acme/app/pulls',
    body: { ...PULL, labels: ['storage'] },
    says: [/\/labels\/0 must be int/],
  },
  { line: 'POST /repos/acme/app/pulls/7/requested_reviewers', says: [/the body is missing/] },
]

/** What Gitea's description allows, and what it does not. */
export const GITEA_CASES: HostCases = { name: 'gitea', cases: CASES }
