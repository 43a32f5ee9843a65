import type { HostCases } from './host-cases.ts'

const MERGE = { title: 'Add a claim', source_branch: 'claims', target_branch: 'main', description: 'text' }

const CASES: HostCases['cases'] = [
  {
    line: 'GET /projects/acme%2Fteam%2Fapp/merge_requests?state=opened&source_branch=claims&target_branch=main',
  },
  { line: 'GET /projects/42/merge_requests?iids[]=7&iids[]=8&per_page=100' },
  { line: 'GET /projects/42/merge_requests?iids=7,8&labels=a,b&draft=true' },
  { line: 'GET /projects/42/merge_requests/7?include_rebase_in_progress=true' },
  { line: 'GET /projects/acme%2Fapp?license=false' },
  { line: 'GET /projects/42/repository/compare?from=main&to=claims&straight=false' },
  { line: 'GET /projects/42/repository/branches/team%2Fclaims' },
  { line: 'GET /users?username=dev' },
  { line: 'POST /projects/42/merge_requests', body: { ...MERGE, labels: ['a', 'b'], reviewer_ids: [3] } },
  { line: 'POST /projects/42/merge_requests', body: { ...MERGE, labels: 'a,b', assignee_ids: [3] } },
  { line: 'PUT /projects/42/merge_requests/7', body: { title: 'new', add_labels: 'a' } },
  { line: 'GET /api/v4/projects/42', says: [/There is no path/] },
  { line: 'GET /projects/acme/app', says: [/There is no path/] },
  { line: 'GET /projects/42/repository/branches/team/claims', says: [/There is no path/] },
  { line: 'PATCH /projects/42/merge_requests/7', body: {}, says: [/There is no method PATCH/] },
  { line: 'GET /projects/42/merge_requests?state=open', says: [/state in the query must be .*\(opened, /] },
  { line: 'GET /projects/42/merge_requests?head=claims', says: [/knows no head/] },
  {
    line: 'GET /projects/42/merge_requests?iids[]=seven',
    says: [/iids\[\] in the query \/0 must be integer/],
  },
  { line: 'GET /projects/42/merge_requests?page[]=1', says: [/knows no page\[\]/] },
  { line: 'GET /projects/42/merge_requests?source_project_id=x', says: [/must be integer,null/] },
  { line: 'GET /projects/42/repository/compare?from=main', says: [/to is missing in the query/] },
  { line: 'GET /projects/42/merge_requests/!7', says: [/merge_request_iid in the path must be integer/] },
  { line: 'POST /projects/42/merge_requests', says: [/the body is missing/] },
  {
    line: 'POST /projects/42/merge_requests',
    body: { ...MERGE, draft: true },
    says: [/knows no field draft/],
  },
  {
    line: 'POST /projects/42/merge_requests',
    body: { title: 'a' },
    says: [/'source_branch'/, /'target_branch'/],
  },
  {
    line: 'POST /projects/42/merge_requests',
    body: { ...MERGE, squash: 'yes' },
    says: [/squash must be boolean,null/],
  },
]

/** What GitLab's description allows, and what it does not. */
export const GITLAB_CASES: HostCases = { name: 'gitlab', cases: CASES }
