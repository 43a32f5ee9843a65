import {
  closedObject,
  each,
  either,
  filledListOf,
  FLAG,
  INTEGER,
  listOf,
  nullable,
  oneOf,
  openObject,
  TEXT,
  textLike,
} from '../field-types.ts'
import type { Fields } from '../field-types.ts'
import type { OperationTable } from '../operations.ts'

const PAGES: Fields = each('per_page page', INTEGER)
const SUGGESTION: Fields = { rationale: TEXT, suggest: FLAG, confidence: oneOf('low medium high') }

const USER = openObject({ login: TEXT }, 'login')
const REPOSITORY_FIELDS: Fields = { id: INTEGER, full_name: TEXT, owner: USER }
const REPOSITORY = openObject(REPOSITORY_FIELDS, 'id full_name owner')
const REPOSITORY_NAMED = openObject({ id: INTEGER, full_name: TEXT }, 'id full_name')
const INSTALLATION = openObject(
  {
    id: INTEGER,
    ...nullable({ account: openObject({ login: TEXT }), suspended_at: TEXT }),
    permissions: openObject({}),
  },
  'id account permissions suspended_at',
)
const LABELS = listOf(openObject({ name: TEXT }, 'name'))
const SIDE = openObject({ ref: TEXT, repo: REPOSITORY, ...nullable({ user: USER }) }, 'ref repo user')
const PULL_FIELDS: Fields = {
  number: INTEGER,
  ...each('html_url title state', TEXT),
  ...nullable(each('body merged_at', TEXT)),
  ...{ head: SIDE, base: SIDE, labels: LABELS },
  ...each('assignees requested_reviewers', listOf(USER)),
}
const PULL_NEEDS = 'number html_url title state body merged_at head base labels'
const PULL = openObject({ ...PULL_FIELDS, state: oneOf('open closed') }, PULL_NEEDS)
const LISTED_PULL = openObject(PULL_FIELDS, PULL_NEEDS)
const ISSUE = openObject({ number: INTEGER, assignees: listOf(USER) }, 'number')

/**
 * What Commitlet asks of GitHub, and what GitHub's REST API (version 2022-11-28) takes of it. Source of the facts: the
 * OpenAPI description of https://github.com/github/rest-api-description, in @octokit/openapi 23.0.2. That of GitHub
 * Enterprise Server 3.19 says the same of all of them.
 */
export const GITHUB_OPERATIONS: OperationTable = {
  'GET /user': { statuses: [200, 304, 401, 403], shows: openObject({ login: TEXT }, 'login') },
  'GET /repos/{owner}/{repo}/installation': { statuses: [200, 301, 404], shows: INSTALLATION },
  'GET /app/installations/{installation_id:integer}': { statuses: [200, 404], shows: INSTALLATION },
  'POST /app/installations/{installation_id:integer}/access_tokens': {
    body: {
      repositories: listOf(TEXT),
      repository_ids: listOf(INTEGER),
      permissions: closedObject({
        ...each('contents pull_requests issues metadata', oneOf('read write')),
        workflows: oneOf('write'),
      }),
    },
    statuses: [201, 401, 403, 404, 422],
    shows: openObject(
      { ...each('token expires_at', TEXT), repositories: listOf(REPOSITORY_NAMED) },
      'token expires_at',
    ),
  },
  // Source of the facts: CreateCommitOnBranchInput of https://docs.github.com/public/fpt/schema.docs.graphql
  'POST /graphql': {
    body: {
      query: TEXT,
      variables: closedObject({
        input: {
          ...closedObject({
            branch: closedObject(each('repositoryNameWithOwner branchName id', TEXT)),
            clientMutationId: TEXT,
            expectedHeadOid: textLike('^[0-9a-f]{40}$'),
            fileChanges: closedObject({
              additions: listOf(openObject(each('path contents', TEXT), 'path contents')),
              deletions: listOf(openObject({ path: TEXT }, 'path')),
            }),
            message: openObject(each('headline body', TEXT), 'headline'),
          }),
          required: ['branch', 'expectedHeadOid', 'message'],
        },
      }),
    },
    bodyRequired: true,
    needs: 'query',
    statuses: [200, 401, 403, 502],
    shows: openObject({}),
  },
  'GET /installation/repositories': {
    query: PAGES,
    statuses: [200, 304, 401, 403],
    shows: openObject(
      { total_count: INTEGER, repositories: listOf(REPOSITORY_NAMED) },
      'total_count repositories',
    ),
  },
  'GET /repos/{owner}/{repo}': { statuses: [200, 301, 403, 404], shows: REPOSITORY },
  'GET /repos/{owner}/{repo}/branches/{branch:segments}': {
    statuses: [200, 301, 404],
    shows: openObject({ name: TEXT }, 'name'),
  },
  'GET /repos/{owner}/{repo}/pulls': {
    query: {
      ...each('head base', TEXT),
      state: oneOf('open closed all'),
      sort: oneOf('created updated popularity long-running'),
      direction: oneOf('asc desc'),
      ...PAGES,
    },
    statuses: [200, 422],
    shows: listOf(LISTED_PULL),
  },
  'POST /repos/{owner}/{repo}/pulls': {
    body: {
      ...each('title head head_repo base body', TEXT),
      ...each('maintainer_can_modify draft', FLAG),
      issue: INTEGER,
    },
    bodyRequired: true,
    needs: 'head base',
    statuses: [201, 403, 422],
    shows: PULL,
  },
  'GET /repos/{owner}/{repo}/pulls/{pull_number:integer}': { statuses: [200, 404, 406, 503], shows: PULL },
  'PATCH /repos/{owner}/{repo}/pulls/{pull_number:integer}': {
    body: { ...each('title body base', TEXT), state: oneOf('open closed'), maintainer_can_modify: FLAG },
    statuses: [200, 403, 422],
    shows: PULL,
  },
  'GET /repos/{owner}/{repo}/pulls/{pull_number:integer}/requested_reviewers': {
    statuses: [200],
    shows: openObject({ users: listOf(USER), teams: listOf(openObject({})) }, 'users teams'),
  },
  'POST /repos/{owner}/{repo}/pulls/{pull_number:integer}/requested_reviewers': {
    body: each('reviewers team_reviewers', listOf(TEXT)),
    statuses: [201, 403, 422],
    shows: LISTED_PULL,
  },
  'GET /repos/{owner}/{repo}/pulls/{pull_number:integer}/reviews': {
    query: PAGES,
    statuses: [200],
    shows: listOf(openObject(nullable({ user: USER }), 'user')),
  },
  'POST /repos/{owner}/{repo}/issues/{issue_number:integer}/labels': {
    body: { labels: filledListOf(either(TEXT, openObject({ name: TEXT, ...SUGGESTION }, 'name'))) },
    statuses: [200, 301, 404, 410, 422],
    shows: LABELS,
  },
  'POST /repos/{owner}/{repo}/issues/{issue_number:integer}/assignees': {
    body: { assignees: listOf(either(TEXT, openObject({ login: TEXT, ...SUGGESTION }, 'login'))) },
    statuses: [201],
    shows: ISSUE,
  },
}
