import type { HostCall } from './dialect.ts'
import type { HostModel, ModelPull } from './model.ts'

/** The base of all addresses in the answers. */
export type Place = Pick<HostCall, 'origin' | 'apiPath'>

/** Number of the repository at the API. */
export const REPOSITORY_ID = 1296269

const SHA = '6dcb09b5b57875f334f61aebed695e2e4193db5e'
const MOMENT = '2026-11-21T12:00:00Z'

const USER_LINKS = {
  followers_url: '/followers',
  following_url: '/following{/other_user}',
  gists_url: '/gists{/gist_id}',
  starred_url: '/starred{/owner}{/repo}',
  subscriptions_url: '/subscriptions',
  organizations_url: '/orgs',
  repos_url: '/repos',
  events_url: '/events{/privacy}',
  received_events_url: '/received_events',
}

const REPOSITORY_LINKS =
  'archive assignees blobs branches collaborators comments commits compare contents contributors deployments downloads events forks git_commits git_refs git_tags hooks issue_comment issue_events issues keys labels languages merges milestones notifications pulls releases stargazers statuses subscribers subscription tags teams trees'

const COUNTS =
  'forks forks_count stargazers_count watchers watchers_count size open_issues open_issues_count network_count subscribers_count'
const FEATURES = 'has_issues has_projects has_wiki has_pages has_downloads has_discussions'

/** A user or an organisation. */
export function userBody(login: string, { origin, apiPath }: Place): object {
  const url = `${origin}${apiPath}/users/${login}`
  return {
    login,
    id: login.length,
    node_id: 'MDQ6VXNlcjE=',
    avatar_url: `${origin}/images/${login}.png`,
    gravatar_id: '',
    url,
    html_url: `${origin}/${login}`,
    type: 'User',
    site_admin: false,
    ...Object.fromEntries(Object.entries(USER_LINKS).map(([key, end]) => [key, url + end])),
  }
}

/** A repository: the full answer, and that within a pull request. `path`: owner and name. */
export function repositoryBody([owner = '', name = '']: readonly string[], place: Place): object {
  const { origin, apiPath } = place
  const web = `${origin}/${owner}/${name}`
  const url = `${origin}${apiPath}/repos/${owner}/${name}`
  const links = REPOSITORY_LINKS.split(' ').map((what) => [`${what}_url`, `${url}/${what}`])
  return {
    id: REPOSITORY_ID,
    node_id: 'MDEwOlJlcG9zaXRvcnkxMjk2MjY5',
    name,
    full_name: `${owner}/${name}`,
    owner: userBody(owner, place),
    private: false,
    html_url: web,
    description: null,
    fork: false,
    url,
    ...Object.fromEntries(links),
    ...Object.fromEntries(COUNTS.split(' ').map((count) => [count, 0])),
    ...Object.fromEntries(FEATURES.split(' ').map((feature) => [feature, true])),
    git_url: web.replace('https:', 'git:'),
    ssh_url: `git@localhost:${owner}/${name}.git`,
    clone_url: `${web}.git`,
    svn_url: web,
    mirror_url: null,
    homepage: null,
    language: null,
    license: null,
    default_branch: 'main',
    archived: false,
    disabled: false,
    visibility: 'public',
    pushed_at: MOMENT,
    created_at: MOMENT,
    updated_at: MOMENT,
  }
}

/** A pull request, with all fields of the answer about a single one. */
export function pullBody(pull: ModelPull, { model, place }: { model: HostModel; place: Place }): object {
  const home = model.movedTo ?? model.repository
  const [owner = '', name = ''] = home
  const { number, headOwner = owner } = pull
  const web = `${place.origin}/${owner}/${name}/pull/${number}`
  const api = `${place.origin}${place.apiPath}/repos/${owner}/${name}`
  const links = linksOf(pull, api)
  const side = (ref: string, whose: string): object => ({
    label: `${whose}:${ref}`,
    ref,
    sha: SHA,
    user: userBody(whose, place),
    repo: repositoryBody([whose, name], place),
  })
  return {
    id: number,
    node_id: 'MDExOlB1bGxSZXF1ZXN0MQ==',
    number,
    html_url: web,
    diff_url: `${web}.diff`,
    patch_url: `${web}.patch`,
    ...Object.fromEntries(Object.entries(links).map(([key, url]) => [`${key}_url`, url])),
    url: links.self,
    _links: Object.fromEntries(Object.entries({ ...links, html: web }).map(([key, href]) => [key, { href }])),
    state: pull.state === 'open' ? 'open' : 'closed',
    locked: false,
    title: pull.title,
    body: pull.body === '' ? null : pull.body,
    user: userBody('commitlet', place),
    ...peopleOf(pull, place),
    milestone: null,
    draft: pull.draft,
    head: side(pull.head, headOwner),
    base: side(pull.base, owner),
    author_association: 'COLLABORATOR',
    auto_merge: null,
    created_at: MOMENT,
    updated_at: MOMENT,
    closed_at: pull.state === 'open' ? null : MOMENT,
    merged_at: pull.state === 'merged' ? MOMENT : null,
    merge_commit_sha: null,
    merged: pull.state === 'merged',
    mergeable: null,
    mergeable_state: 'unknown',
    merged_by: null,
    comments: 0,
    review_comments: 0,
    maintainer_can_modify: false,
    commits: 1,
    additions: 1,
    deletions: 0,
    changed_files: 1,
  }
}

/** A pull request as the issue that it also is. */
export function issueBody(pull: ModelPull, stage: { model: HostModel; place: Place }): object {
  const { origin, apiPath } = stage.place
  const home = (stage.model.movedTo ?? stage.model.repository).join('/')
  const repository_url = `${origin}${apiPath}/repos/${home}`
  const url = `${repository_url}/issues/${pull.number}`
  return {
    ...pullBody(pull, stage),
    url,
    repository_url,
    labels_url: `${url}/labels{/name}`,
    events_url: `${url}/events`,
  }
}

function peopleOf(pull: ModelPull, place: Place): object {
  const [first] = pull.assignees
  return {
    labels: pull.labels.map((label) => labelBody(label, place)),
    assignee: first === undefined ? null : userBody(first, place),
    assignees: pull.assignees.map((login) => userBody(login, place)),
    requested_reviewers: pull.reviewers.map((login) => userBody(login, place)),
    requested_teams: [],
  }
}

/** A label of the repository. */
export function labelBody(name: string, { origin, apiPath }: Place): object {
  return {
    id: name.length,
    node_id: 'MDU6TGFiZWwx',
    url: `${origin}${apiPath}/labels/${encodeURIComponent(name)}`,
    name,
    description: null,
    color: 'ededed',
    default: false,
  }
}

function linksOf({ number }: ModelPull, api: string): Readonly<Record<string, string>> {
  return {
    self: `${api}/pulls/${number}`,
    issue: `${api}/issues/${number}`,
    commits: `${api}/pulls/${number}/commits`,
    review_comments: `${api}/pulls/${number}/comments`,
    review_comment: `${api}/pulls/comments{/number}`,
    comments: `${api}/issues/${number}/comments`,
    statuses: `${api}/statuses/${SHA}`,
  }
}
