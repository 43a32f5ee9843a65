import type { HostCall } from './dialect.ts'
import type { HostModel, ModelPull } from './model.ts'

/** GitLab's number of the project; it stays when the project is renamed. */
export const PROJECT_ID = 42
const FORK_ID = 77

/** GitLab numbers people in the order in which they came. */
export function personID(model: HostModel, username: string): number {
  return 100 + [...model.people].indexOf(username)
}

/** The user with this number; undefined: there is none. */
export function personNumbered(model: HostModel, id: unknown): string | undefined {
  return [...model.people].find((username) => personID(model, username) === id)
}

/** `APIEntitiesUserBasic`. */
export function userBody(call: HostCall, model: HostModel, username: string): object {
  return {
    id: personID(model, username),
    username,
    public_email: '',
    name: username,
    state: 'active',
    locked: false,
    avatar_url: null,
    web_url: `${webOf(call)}/${username}`,
  }
}

/** `APIEntitiesMergeRequest`, without the fields about pipelines and diffs. */
export function mergeRequestBody(call: HostCall, model: HostModel, pull: ModelPull): object {
  const people = (names: readonly string[]): object[] => names.map((name) => userBody(call, model, name))
  const path = (model.movedTo ?? model.repository).join('/')
  const draft = isDraft(pull.title)
  return {
    id: 9000 + pull.number,
    iid: pull.number,
    project_id: PROJECT_ID,
    title: pull.draft && !draft ? `Draft: ${pull.title}` : pull.title,
    description: pull.body === '' ? null : pull.body,
    state: pull.state === 'open' ? 'opened' : pull.state,
    created_at: '2026-11-21T10:00:00.000Z',
    updated_at: '2026-11-21T10:00:00.000Z',
    merged_by: null,
    merge_user: null,
    merged_at: pull.state === 'merged' ? '2026-11-21T11:00:00.000Z' : null,
    closed_by: null,
    closed_at: pull.state === 'closed' ? '2026-11-21T11:00:00.000Z' : null,
    target_branch: pull.base,
    source_branch: pull.head,
    user_notes_count: 0,
    upvotes: 0,
    downvotes: 0,
    author: userBody(call, model, [...model.people][0] ?? 'dev'),
    assignees: people(pull.assignees),
    assignee: people(pull.assignees)[0] ?? null,
    reviewers: people(pull.reviewers),
    source_project_id: pull.headOwner === undefined ? PROJECT_ID : FORK_ID,
    target_project_id: PROJECT_ID,
    labels: [...pull.labels].sort(),
    draft: draft || pull.draft,
    imported: false,
    imported_from: 'none',
    work_in_progress: draft || pull.draft,
    milestone: null,
    merge_when_pipeline_succeeds: false,
    merge_status: 'checking',
    detailed_merge_status: 'checking',
    merge_after: null,
    sha: '8888888888888888888888888888888888888888',
    merge_commit_sha: null,
    squash_commit_sha: null,
    discussion_locked: null,
    should_remove_source_branch: null,
    force_remove_source_branch: null,
    prepared_at: null,
    reference: `!${pull.number}`,
    references: {
      short: `!${pull.number}`,
      relative: `!${pull.number}`,
      full: `${path}!${pull.number}`,
    },
    web_url: `${webOf(call)}/${path}/-/merge_requests/${pull.number}`,
    time_stats: {
      time_estimate: 0,
      total_time_spent: 0,
      human_time_estimate: null,
      human_total_time_spent: null,
    },
    squash: false,
    squash_on_merge: false,
    task_completion_status: { count: 0, completed_count: 0 },
    has_conflicts: false,
    blocking_discussions_resolved: true,
  }
}

/** `APIEntitiesCommit`. */
export function commitBody(call: HostCall, model: HostModel): object {
  const id = '8888888888888888888888888888888888888888'
  return {
    id,
    short_id: id.slice(0, 8),
    created_at: '2026-11-21T10:00:00.000+00:00',
    parent_ids: ['7777777777777777777777777777777777777777'],
    title: 'A commit',
    message: 'A commit\n',
    author_name: 'dev',
    author_email: 'dev@example.com',
    authored_date: '2026-11-21T10:00:00.000+00:00',
    committer_name: 'dev',
    committer_email: 'dev@example.com',
    committed_date: '2026-11-21T10:00:00.000+00:00',
    trailers: {},
    extended_trailers: {},
    web_url: `${webOf(call)}/${model.repository.join('/')}/-/commit/${id}`,
  }
}

/** `APIEntitiesBranch`. */
export function branchBody(call: HostCall, model: HostModel, name: string): object {
  return {
    name,
    commit: commitBody(call, model),
    merged: false,
    protected: name === 'main',
    developers_can_push: false,
    developers_can_merge: false,
    can_push: true,
    default: name === 'main',
    web_url: `${webOf(call)}/${model.repository.join('/')}/-/tree/${name}`,
  }
}

/** `APIEntitiesProjectWithAccess`, shortened. */
export function projectBody(call: HostCall, model: HostModel): object {
  const path = model.movedTo ?? model.repository
  const full = path.join('/')
  return {
    id: PROJECT_ID,
    description: null,
    name: path.at(-1),
    name_with_namespace: path.join(' / '),
    path: path.at(-1),
    path_with_namespace: full,
    created_at: '2026-11-01T10:00:00.000Z',
    default_branch: 'main',
    http_url_to_repo: `${webOf(call)}/${full}.git`,
    web_url: `${webOf(call)}/${full}`,
    archived: model.archived,
    visibility: 'private',
    merge_requests_enabled: true,
    merge_requests_access_level: 'enabled',
    empty_repo: false,
  }
}

/** GitLab recognises a draft by the start of its title. */
export function isDraft(title: string): boolean {
  return /^(?:\[draft\]|\(draft\)|draft:)/i.test(title)
}

/** The address of the installation for people; its API is below it. */
function webOf({ origin, apiPath }: HostCall): string {
  return origin + apiPath.replace(/\/api\/v4$/, '')
}
