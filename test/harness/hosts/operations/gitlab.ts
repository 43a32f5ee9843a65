import {
  commaList,
  each,
  either,
  FLAG,
  INTEGER,
  listOf,
  nullable,
  oneOf,
  TEXT,
  textOfAtMost,
  ANYTHING,
} from '../field-types.ts'
import type { Fields } from '../field-types.ts'
import type { OperationTable } from '../operations.ts'

const PAGES: Fields = each('page per_page', INTEGER)
const NUMBER_OR_WORD = either(INTEGER, TEXT)
const LABELS = either(TEXT, listOf(TEXT))

/** What creating and changing a merge request have in common; GitLab takes labels as one text with commas as well. */
const MERGE_REQUEST: Fields = {
  ...each('title target_branch description merge_after', TEXT),
  ...each('labels add_labels remove_labels', LABELS),
  ...each('assignee_id milestone_id approvals_before_merge', INTEGER),
  ...each('assignee_ids reviewer_ids', listOf(INTEGER)),
  ...each('remove_source_branch allow_collaboration allow_maintainer_to_push squash', FLAG),
  milestone: textOfAtMost(255),
}

/**
 * What Commitlet asks of GitLab, and what GitLab's REST API (19.5) takes of it. Source of the facts:
 * doc/api/openapi/openapi_v3.yaml of https://gitlab.com/gitlab-org/gitlab; that labels may be one text is said by the
 * documentation of the merge requests API, https://docs.gitlab.com/api/merge_requests/.
 */
export const GITLAB_OPERATIONS: OperationTable = {
  'GET /personal_access_tokens/self': { statuses: [200, 401, 404] },
  'GET /user': { statuses: [200, 401, 403] },
  'GET /projects/{id}': {
    query: each('statistics with_custom_attributes license', FLAG),
    statuses: [200, 400, 404],
  },
  'GET /projects/{id}/merge_requests': {
    query: {
      ...each(
        'author_username reviewer_username milestone my_reaction_emoji source_branch target_branch search',
        TEXT,
      ),
      ...each('in environment merge_user_username', TEXT),
      ...each('created_after created_before updated_after updated_before merged_after merged_before', TEXT),
      ...each('deployed_after deployed_before', TEXT),
      ...each('author_id source_project_id merge_user_id', INTEGER),
      ...each('assignee_id reviewer_id', NUMBER_OR_WORD),
      ...each('with_labels_details with_merge_status_recheck draft', FLAG),
      ...each('approver_ids approved_by_ids approved_by_usernames', listOf(ANYTHING)),
      assignee_username: listOf(TEXT),
      labels: commaList(TEXT),
      iids: commaList(INTEGER),
      state: oneOf('opened closed locked merged all'),
      order_by: oneOf(
        'created_at label_priority milestone_due popularity priority title updated_at merged_at',
      ),
      sort: oneOf('asc desc'),
      view: oneOf('simple'),
      scope: oneOf('created-by-me assigned-to-me created_by_me assigned_to_me reviews_for_me all'),
      wip: oneOf('yes no'),
      ...each('not[author_username] not[reviewer_username] not[milestone] not[my_reaction_emoji]', TEXT),
      ...each('not[author_id] not[reviewer_id]', INTEGER),
      'not[assignee_id]': NUMBER_OR_WORD,
      ...each('not[assignee_username] not[labels]', listOf(TEXT)),
      ...PAGES,
    },
    statuses: [200, 400, 401, 404, 422],
  },
  'POST /projects/{id}/merge_requests': {
    body: nullable({ ...MERGE_REQUEST, source_branch: TEXT, target_project_id: INTEGER }),
    bodyRequired: true,
    needs: 'title source_branch target_branch',
    statuses: [201, 400, 401, 404, 409, 422],
  },
  'GET /projects/{id}/merge_requests/{merge_request_iid:integer}': {
    query: each('render_html include_diverged_commits_count include_rebase_in_progress', FLAG),
    statuses: [200, 400, 404],
  },
  'PUT /projects/{id}/merge_requests/{merge_request_iid:integer}': {
    body: nullable({ ...MERGE_REQUEST, state_event: oneOf('close reopen'), discussion_locked: FLAG }),
    statuses: [200, 400, 404, 409, 422],
  },
  'GET /projects/{id}/repository/branches/{branch}': { statuses: [200, 400, 404] },
  'GET /projects/{id}/repository/commits': {
    query: {
      ...each('ref_name since until path author page_token', TEXT),
      ...each('follow all with_stats first_parent trailers', FLAG),
      order: oneOf('default topo'),
      pagination: oneOf('legacy keyset'),
      ...PAGES,
    },
    statuses: [200, 400, 401, 404],
  },
  'GET /projects/{id}/repository/compare': {
    query: { ...each('from to', TEXT), from_project_id: INTEGER, ...each('straight unidiff', FLAG) },
    needs: 'from to',
    statuses: [200, 400, 404],
  },
  'GET /users': {
    query: {
      ...each(
        'username extern_uid public_email provider search created_after created_before two_factor',
        TEXT,
      ),
      ...each('active humans external blocked without_projects without_project_bots admins', FLAG),
      ...each('exclude_active exclude_external exclude_humans exclude_internal', FLAG),
      ...each('with_custom_attributes skip_ldap auditors', FLAG),
      order_by: oneOf('id name username created_at updated_at'),
      sort: oneOf('asc desc'),
      ...PAGES,
    },
    statuses: [200, 400],
  },
}
