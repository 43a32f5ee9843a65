import { ANYTHING, atLeast, each, FLAG, INTEGER, listOf, oneOf, TEXT } from '../field-types.ts'
import type { Fields } from '../field-types.ts'
import type { OperationTable } from '../operations.ts'

const PAGES: Fields = each('page limit', INTEGER)
const PULL: Fields = {
  ...each('title body base assignee due_date', TEXT),
  ...{ assignees: listOf(TEXT), labels: listOf(INTEGER), milestone: INTEGER, allow_maintainer_edit: FLAG },
}
const PEOPLE: Fields = each('reviewers team_reviewers', listOf(TEXT))

/**
 * What Commitlet asks of Gitea, and what its REST API v1 (after 1.26) takes of it. Source of the facts:
 * templates/swagger/v1-swagger.generated.json of https://github.com/go-gitea/gitea. What is not named there is ignored by
 * Gitea, as was measured with `head` and `per_page` of the list of pull requests.
 */
export const GITEA_OPERATIONS: OperationTable = {
  'GET /user': { statuses: [200, 401, 403, 404] },
  'GET /repos/{owner}/{repo}': { statuses: [200, 404] },
  'GET /repos/{owner}/{repo}/branches/{branch}': { statuses: [200, 404] },
  'GET /repos/{owner}/{repo}/commits': {
    query: { ...each('sha path since until not', TEXT), ...each('stat verification files', FLAG), ...PAGES },
    statuses: [200, 404, 409],
  },
  'GET /repos/{owner}/{repo}/pulls': {
    query: {
      ...each('base_branch poster', TEXT),
      state: oneOf('open closed all'),
      sort: oneOf('oldest recentupdate recentclose leastupdate mostcomment leastcomment priority'),
      milestone: INTEGER,
      labels: listOf(INTEGER),
      page: atLeast(1),
      limit: atLeast(0),
    },
    statuses: [200, 404, 500],
  },
  'POST /repos/{owner}/{repo}/pulls': {
    body: { ...PULL, ...PEOPLE, head: TEXT },
    statuses: [201, 403, 404, 409, 422, 423],
  },
  'GET /repos/{owner}/{repo}/pulls/{base}/{head}': { statuses: [200, 404] },
  'GET /repos/{owner}/{repo}/pulls/{index:integer}': { statuses: [200, 404] },
  'PATCH /repos/{owner}/{repo}/pulls/{index:integer}': {
    body: { ...PULL, state: TEXT, content_version: INTEGER, unset_due_date: FLAG },
    statuses: [201, 403, 404, 409, 412, 422],
  },
  'GET /repos/{owner}/{repo}/pulls/{index:integer}/reviews': { query: PAGES, statuses: [200, 404] },
  'POST /repos/{owner}/{repo}/pulls/{index:integer}/requested_reviewers': {
    body: PEOPLE,
    alsoTakes: 'text/plain',
    bodyRequired: true,
    statuses: [201, 404, 422],
  },
  'POST /repos/{owner}/{repo}/issues/{index:integer}/labels': {
    body: { labels: listOf(ANYTHING) },
    statuses: [200, 403, 404],
  },
}
