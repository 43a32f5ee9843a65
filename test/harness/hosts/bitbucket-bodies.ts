import type { HostCall } from './dialect.ts'
import type { HostModel, ModelPull } from './model.ts'

/** The owner of the token. */
export const AUTHOR = {
  uuid: '{aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee}',
  account_id: '557058:aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
  display_name: 'The author',
}

const STATES = { open: 'OPEN', merged: 'MERGED', closed: 'DECLINED' } as const

/** A pull request in an answer of its own; in a list Bitbucket shows neither reviewers nor participants. */
export function pullBody(
  pull: ModelPull,
  call: HostCall,
  model: HostModel,
): Readonly<Record<string, unknown>> {
  const reviewers = pull.reviewers.map((name) => account(name, call))
  return {
    ...listedBody(pull, call, model),
    reviewers,
    participants: reviewers.map((user) => ({
      type: 'participant',
      user,
      role: 'REVIEWER',
      approved: false,
      state: null,
      participated_on: null,
    })),
  }
}

/** A pull request in a list. */
export function listedBody(
  pull: ModelPull,
  call: HostCall,
  model: HostModel,
): Readonly<Record<string, unknown>> {
  const { origin, apiPath } = call
  const path = model.repository.join('/')
  const uuid = model.uuids?.[1] ?? '{12345678-1234-1234-1234-123456789abc}'
  const api = `${origin}${apiPath}/repositories/${path}/pullrequests/${pull.number}`
  const description = rendered(pull.body)
  return {
    type: 'pullrequest',
    id: pull.number,
    title: pull.title,
    description: pull.body,
    rendered: { title: rendered(pull.title), description },
    summary: description,
    state: STATES[pull.state],
    draft: pull.draft,
    queued: false,
    close_source_branch: false,
    merge_commit: null,
    comment_count: 0,
    task_count: 0,
    closed_by: null,
    reason: '',
    created_on: timeOf(pull.opened),
    updated_on: timeOf(pull.written),
    author: account(AUTHOR.uuid, call),
    source: end(
      pull.head,
      pull.headOwner === undefined
        ? { path, uuid }
        : { path: `${pull.headOwner}/fork`, uuid: '{12345678-1234-1234-1234-123456789abd}' },
      call,
    ),
    destination: end(pull.base, { path, uuid }, call),
    links: {
      self: { href: api },
      html: { href: `${origin}/${path}/pull-requests/${pull.number}` },
      commits: { href: `${api}/commits` },
      approve: { href: `${api}/approve` },
      'request-changes': { href: `${api}/request-changes` },
      diff: { href: `${api}/diff` },
      diffstat: { href: `${api}/diffstat` },
      comments: { href: `${api}/comments` },
      activity: { href: `${api}/activity` },
      merge: { href: `${api}/merge` },
      decline: { href: `${api}/decline` },
      statuses: { href: `${api}/statuses` },
    },
  }
}

function rendered(raw: string): Readonly<Record<string, string>> {
  return { type: 'rendered', raw, markup: 'markdown', html: `<p>${raw}</p>` }
}

interface Place {
  readonly path: string
  readonly uuid: string
}

/** With microseconds, as Bitbucket writes it. */
function timeOf(date: Date): string {
  return date.toISOString().replace('Z', '000+00:00')
}

function end(branch: string, { path: repository, uuid }: Place, { origin, apiPath }: HostCall): unknown {
  return {
    branch: { name: branch, links: {}, sync_strategies: ['merge_commit', 'rebase'] },
    commit: {
      type: 'commit',
      hash: '6a2c16e4a152',
      links: { self: { href: `${origin}${apiPath}/repositories/${repository}/commit/6a2c16e4a152` } },
    },
    repository: {
      type: 'repository',
      full_name: repository,
      name: repository.split('/')[1],
      uuid,
      links: {
        self: { href: `${origin}${apiPath}/repositories/${repository}` },
        html: { href: `${origin}/${repository}` },
      },
    },
  }
}

/** The common part of UUID and account ID of a person on this stand-in. */
export function bareName(name: string): string {
  return name.replace(/[{}]/g, '').replace(/^\d+:/, '')
}

/** A person by UUID or by account ID, with both. */
function account(name: string, { origin, apiPath }: HostCall): unknown {
  const own = name === AUTHOR.uuid ? AUTHOR : undefined
  const bare = bareName(name)
  return {
    type: 'user',
    display_name: own?.display_name ?? `Person ${bare.slice(0, 8)}`,
    nickname: bare.slice(0, 8),
    uuid: name.startsWith('{') ? name : `{${bare}}`,
    account_id: name.startsWith('{') ? `557058:${bare}` : name,
    links: {
      self: { href: `${origin}${apiPath}/users/${encodeURIComponent(name)}` },
      html: { href: `${origin}/${encodeURIComponent(name)}/` },
    },
  }
}
