import type { HostCall } from './dialect.ts'
import type { HostModel, ModelPull } from './model.ts'

/** The owner of the token. */
export const AUTHOR = 'commitlet'
/** What makes a draft, at the start of a title (Gitea's defaults). */
export const DRAFT_PREFIXES = ['WIP:', '[WIP]']

const OPENED = '2026-11-21T10:00:00Z'
const REPOSITORY_ID = 1
const FORK_ID = 2

/** A pull request as Gitea shows it, alone and in lists. An empty list is null. */
export function pullBody(
  pull: ModelPull,
  call: HostCall,
  model: HostModel,
): Readonly<Record<string, unknown>> {
  const { number, state, headOwner } = pull
  const page = `${webOf(call)}/${model.repository.join('/')}/pulls/${number}`
  const isMerged = state === 'merged'
  return {
    id: 1000 + number,
    url: page,
    number,
    user: user(AUTHOR, call),
    title: pull.title,
    body: pull.body,
    labels: pull.labels.map((label) => labelBody(label, call)),
    milestone: null,
    assignee: pull.assignees[0] === undefined ? null : user(pull.assignees[0], call),
    assignees: nullable(pull.assignees.map((login) => user(login, call))),
    requested_reviewers: nullable(pull.reviewers.map((login) => user(login, call))),
    requested_reviewers_teams: null,
    state: state === 'open' ? 'open' : 'closed',
    draft: isDraft(pull.title),
    is_locked: false,
    comments: 0,
    additions: 1,
    deletions: 0,
    changed_files: 1,
    html_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    mergeable: state === 'open',
    merged: isMerged,
    merged_at: isMerged ? OPENED : null,
    merge_commit_sha: isMerged ? 'a'.repeat(40) : null,
    merged_by: isMerged ? user(AUTHOR, call) : null,
    allow_maintainer_edit: false,
    base: end(pull.base, REPOSITORY_ID, repositoryBody(model.repository, call)),
    head:
      headOwner === undefined
        ? end(pull.head, REPOSITORY_ID, repositoryBody(model.repository, call))
        : end(pull.head, FORK_ID, repositoryBody([headOwner, 'fork'], call, FORK_ID)),
    merge_base: 'b'.repeat(40),
    due_date: null,
    created_at: OPENED,
    updated_at: OPENED,
    closed_at: state === 'open' ? null : OPENED,
    pin_order: 0,
  }
}

/** Whether Gitea treats it as a draft: requests have no field for that. */
export function isDraft(title: string): boolean {
  return DRAFT_PREFIXES.some((prefix) => title.toUpperCase().startsWith(prefix))
}

/** The first state of a review is its request. */
export function reviewBody(login: string, call: HostCall): unknown {
  return {
    id: 1,
    user: user(login, call),
    team: null,
    state: 'REQUEST_REVIEW',
    body: '',
    commit_id: '',
    stale: false,
    official: false,
    dismissed: false,
    comments_count: 0,
    submitted_at: OPENED,
    updated_at: OPENED,
  }
}

export function labelBody(name: string, { origin, apiPath }: HostCall): unknown {
  return {
    id: 1,
    name,
    exclusive: false,
    is_archived: false,
    color: '00aabb',
    description: '',
    url: `${origin}${apiPath}/repos/acme/shop/labels/1`,
  }
}

export function repositoryBody(path: readonly string[], call: HostCall, id = REPOSITORY_ID): unknown {
  const [owner = '', name = ''] = path
  const full = `${owner}/${name}`
  return {
    id,
    owner: { id: 1, login: owner, username: owner },
    name,
    full_name: full,
    empty: false,
    private: true,
    html_url: `${webOf(call)}/${full}`,
    url: `${call.origin}${call.apiPath}/repos/${full}`,
    default_branch: 'main',
    archived: false,
    has_pull_requests: true,
    permissions: { admin: false, push: true, pull: true },
  }
}

/** The label is the bare name of the branch, also for a fork. */
function end(branch: string, id: number, repo: unknown): unknown {
  return { label: branch, ref: branch, sha: 'c'.repeat(40), repo_id: id, repo }
}

function user(login: string, call: HostCall): unknown {
  return {
    id: 1,
    login,
    login_name: '',
    full_name: '',
    email: `${login}@noreply.localhost`,
    avatar_url: `${webOf(call)}/avatars/1`,
    html_url: `${webOf(call)}/${login}`,
    username: login,
  }
}

function nullable(list: readonly unknown[]): readonly unknown[] | null {
  return list.length === 0 ? null : list
}

/** The address of the installation for people. */
function webOf({ origin, apiPath }: HostCall): string {
  return origin + apiPath.replace(/\/api\/v1$/, '')
}
