import type { HostCases } from './host-cases.ts'

const SOURCE = { branch: { name: 'claims' } }
const AT = '/repositories/acme/app'

const CASES: HostCases['cases'] = [
  { line: `GET ${AT}/pullrequests?state=OPEN&q=source.branch.name%3D%22claims%22&pagelen=50&sort=id` },
  { line: `GET ${AT}/pullrequests?state=OPEN&state=MERGED` },
  { line: `GET ${AT}/pullrequests/7` },
  { line: 'GET /repositories/%7Bworkspace%7D/%7Brepository%7D' },
  { line: `GET ${AT}/refs/branches/team%2Fclaims` },
  { line: `GET ${AT}/commits/claims?exclude=main&pagelen=1` },
  { line: `GET ${AT}/commits?include=claims&include=other&exclude=main` },
  {
    line: `POST ${AT}/pullrequests`,
    body: { title: 'Add', source: SOURCE, reviewers: [{ uuid: '{3}' }], draft: true },
  },
  { line: `PUT ${AT}/pullrequests/7`, body: { title: 'new', description: 'new', destination: SOURCE } },
  { line: `GET ${AT}/pulls`, says: [/There is no path/] },
  { line: `PATCH ${AT}/pullrequests/7`, body: {}, says: [/There is no method PATCH/] },
  { line: `GET ${AT}/pullrequests?state=open`, says: [/state in the query \/0 must be .*\(OPEN, /] },
  { line: `GET ${AT}/pullrequests?state=OPEN,MERGED`, says: [/state in the query \/0 must be/] },
  { line: `GET ${AT}/pullrequests?per_page=50`, says: [/knows no per_page/] },
  { line: `GET ${AT}/pullrequests?pagelen=many`, says: [/pagelen in the query must be integer/] },
  { line: `GET ${AT}/pullrequests/seven`, says: [/pull_request_id in the path must be integer/] },
  { line: `POST ${AT}/pullrequests`, says: [/the body is missing/] },
  {
    line: `POST ${AT}/pullrequests`,
    body: { source: SOURCE },
    says: [/must have required property 'title'/],
  },
  {
    line: `POST ${AT}/pullrequests`,
    body: { title: 'a', source: SOURCE, labels: [] },
    says: [/no field labels/],
  },
  {
    line: `POST ${AT}/pullrequests`,
    body: { title: 'a', source: { name: 'b' } },
    says: [/source must NOT have add/],
  },
  { line: `PUT ${AT}/pullrequests/7`, body: { reviewers: ['dev'] }, says: [/\/reviewers\/0 must be object/] },
]

/** What Bitbucket Cloud's description allows, and what it does not. */
export const BITBUCKET_CASES: HostCases = { name: 'bitbucket', cases: CASES }
