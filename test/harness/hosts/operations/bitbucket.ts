import {
  ANY_OBJECT,
  atLeast,
  closedObject,
  each,
  FLAG,
  INTEGER,
  listOf,
  oneOf,
  openObject,
  TEXT,
  textLike,
} from '../field-types.ts'
import type { Fields } from '../field-types.ts'
import type { OperationTable } from '../operations.ts'

const PAGES: Fields = each('page pagelen', INTEGER)
const REVISIONS: Fields = { ...each('include exclude', listOf(TEXT)), path: TEXT, ...PAGES }
const LINK = closedObject(each('href name', TEXT))
const MARKUP = closedObject({ ...each('raw html', TEXT), markup: oneOf('markdown creole plaintext') })
const COMMIT = closedObject({ hash: textLike('[0-9a-f]{7,}?') })
const TYPE: Fields = { type: TEXT }

const ACCOUNT = openObject({
  ...TYPE,
  ...each('created_on display_name uuid', TEXT),
  links: openObject({ avatar: LINK }),
})
const PARTICIPANT = openObject({
  ...TYPE,
  user: ACCOUNT,
  role: oneOf('PARTICIPANT REVIEWER'),
  approved: FLAG,
  state: oneOf('approved changes_requested'),
  participated_on: TEXT,
})
const REPOSITORY: Fields = {
  ...TYPE,
  ...each('uuid full_name name description created_on updated_on language', TEXT),
  ...each('is_private has_issues has_wiki', FLAG),
  size: INTEGER,
  scm: oneOf('git'),
  fork_policy: oneOf('allow_forks no_public_forks no_forks'),
  owner: ACCOUNT,
  ...each('parent project mainbranch', ANY_OBJECT),
  links: closedObject({
    ...each('self html avatar pullrequests commits forks watchers downloads hooks', LINK),
    clone: listOf(LINK),
  }),
}
const STRATEGY = oneOf(
  'merge_commit squash fast_forward squash_fast_forward rebase_fast_forward rebase_merge',
)
const BRANCH = closedObject({
  ...each('name default_merge_strategy', TEXT),
  merge_strategies: listOf(STRATEGY),
})
const END = closedObject({
  repository: openObject({ ...REPOSITORY, parent: openObject(REPOSITORY) }),
  branch: BRANCH,
  commit: COMMIT,
})
const PULL_REQUEST: Fields = {
  ...TYPE,
  ...each('title description reason created_on updated_on', TEXT),
  ...each('draft queued close_source_branch', FLAG),
  id: INTEGER,
  ...each('comment_count task_count', atLeast(0)),
  state: oneOf('OPEN DRAFT QUEUED MERGED DECLINED SUPERSEDED'),
  ...each('source destination', END),
  ...each('author closed_by', ACCOUNT),
  reviewers: listOf(ACCOUNT),
  participants: listOf(PARTICIPANT),
  merge_commit: COMMIT,
  summary: MARKUP,
  rendered: closedObject(each('title description reason', MARKUP)),
  links: closedObject(each('self html commits approve diff diffstat comments activity merge decline', LINK)),
}

/**
 * What Commitlet asks of Bitbucket Cloud, and what its REST API 2.0 takes of it. Source of the facts:
 * https://api.bitbucket.org/swagger.json, and where that is known to be incomplete (BCLOUD-17601)
 * https://developer.atlassian.com/cloud/bitbucket/rest/: `type` is needed nowhere; to open a pull request title and source
 * are; `description`, `q`, `sort`, `page`, `pagelen`, `include`, `exclude` and `path` are taken; `state` may be repeated;
 * `fields` names the fields of an answer ("Partial responses").
 */
export const BITBUCKET_OPERATIONS: OperationTable = {
  'GET /user': { statuses: [200, 401, 403] },
  'GET /repositories/{workspace}/{repo_slug}': {
    query: each('fields', TEXT),
    statuses: [200, 403, 404],
  },
  'GET /repositories/{workspace}/{repo_slug}/refs/branches/{name}': { statuses: [200, 403, 404] },
  'GET /repositories/{workspace}/{repo_slug}/commits': { query: REVISIONS, statuses: [200, 404] },
  'GET /repositories/{workspace}/{repo_slug}/commits/{revision}': { query: REVISIONS, statuses: [200, 404] },
  'GET /repositories/{workspace}/{repo_slug}/pullrequests': {
    query: { state: listOf(oneOf('OPEN MERGED DECLINED SUPERSEDED')), ...each('q sort', TEXT), ...PAGES },
    statuses: [200, 401, 404],
  },
  'POST /repositories/{workspace}/{repo_slug}/pullrequests': {
    body: PULL_REQUEST,
    bodyRequired: true,
    needs: 'title source',
    statuses: [201, 400, 401],
  },
  'GET /repositories/{workspace}/{repo_slug}/pullrequests/{pull_request_id:integer}': {
    statuses: [200, 401, 404],
  },
  'PUT /repositories/{workspace}/{repo_slug}/pullrequests/{pull_request_id:integer}': {
    body: PULL_REQUEST,
    statuses: [200, 400, 401, 404],
  },
}
