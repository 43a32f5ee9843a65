import { elements, member, textMember } from '../../../functions/domain/json-value.ts'
import type { Dialect, HostAnswer, HostCall, LiteralAnswers } from './dialect.ts'
import {
  branchBody,
  commitBody,
  isDraft,
  mergeRequestBody,
  personNumbered,
  projectBody,
  PROJECT_ID,
  userBody,
} from './gitlab-bodies.ts'
import { GITLAB_IDENTITY, gitlabPermissions, gitlabProtection } from './identity-routes.ts'
import { addPull } from './model.ts'
import type { HostModel, ModelPull } from './model.ts'
import { GITLAB_OPERATIONS } from './operations/gitlab.ts'

const PROJECT = String.raw`^/projects/[^/]+`
/** Some of GitLab's quick actions. */
const QUICK_ACTION = /^[^\S\n]*\/(?:close|merge|assign|label|draft|title)\b.*$\n?/gm

/** The literal answers of GitLab: from its lib/api, and for RFC 6750 from the library rack-oauth2. */
const ANSWERS: LiteralAnswers = {
  unauthorised: { status: 401, body: { message: '401 Unauthorized' } },
  missingScope: {
    status: 403,
    body: {
      error: 'insufficient_scope',
      error_description: 'The request requires higher privileges than provided by the access token.',
      scope: 'api',
    },
  },
  needed: 'api',
  notFound: { status: 404, body: { message: '404 Project Not Found' } },
  archived: { status: 403, body: { message: '403 Forbidden' } },
  rateLimited: (seconds) => ({
    status: 429,
    headers: seconds === undefined ? {} : limitHeaders(seconds),
    body: 'Retry later\n',
  }),
  moved: (call) => (call.body === undefined ? redirect(call) : notForMoved()),
}

/** GitLab, as far as merge requests are concerned. */
export const GITLAB: Dialect = {
  name: 'gitlab',
  operations: GITLAB_OPERATIONS,
  apiPath: '/api/v4',
  answers: ANSWERS,
  repositoryOf(path) {
    const name = decodeURIComponent(/^\/projects\/([^/]+)/.exec(path)?.[1] ?? '')
    return name.includes('/') ? name.split('/') : undefined
  },
  tokenOf: (headers) => headers.get('private-token') ?? bearer(headers.get('authorization')),
  routes: [
    ...GITLAB_IDENTITY,
    { method: 'GET', path: new RegExp(`${PROJECT}/merge_requests$`), answer: list },
    { method: 'POST', path: new RegExp(`${PROJECT}/merge_requests$`), answer: create },
    { method: 'GET', path: new RegExp(`${PROJECT}/merge_requests/(\\d+)$`), answer: show },
    { method: 'PUT', path: new RegExp(`${PROJECT}/merge_requests/(\\d+)$`), answer: edit },
    { method: 'GET', path: new RegExp(`${PROJECT}/repository/commits$`), answer: commits },
    { method: 'GET', path: new RegExp(`${PROJECT}/repository/branches/([^/]+)$`), answer: branch },
    { method: 'GET', path: new RegExp(`${PROJECT}$`), answer: project },
    { method: 'GET', path: /^\/users$/, answer: users },
  ],
}

function project(call: HostCall, model: HostModel): HostAnswer {
  return ok({ ...projectBody(call, model), ...gitlabPermissions(call, model) })
}

function list(call: HostCall, model: HostModel): HostAnswer {
  const { query } = call
  const state = query.get('state') ?? 'all'
  const fits = (pull: ModelPull): boolean =>
    [pull.head, null].includes(query.get('source_branch')) &&
    [pull.base, null].includes(query.get('target_branch')) &&
    ['all', pull.state === 'open' ? 'opened' : pull.state].includes(state)
  const isOf = (pull: ModelPull): boolean => {
    const body = mergeRequestBody(call, model, pull)
    return [String(member(body, 'source_project_id')), null].includes(query.get('source_project_id'))
  }
  const found = model.pulls.filter((pull) => fits(pull) && isOf(pull)).toReversed()
  const size = Number(query.get('per_page') ?? 20)
  const page = Number(query.get('page') ?? 1)
  const shown = found.slice((page - 1) * size, page * size)
  const next = page * size < found.length ? String(page + 1) : ''
  const headers = { 'x-page': String(page), 'x-per-page': String(size), 'x-next-page': next }
  return { ...ok(shown.map((pull) => mergeRequestBody(call, model, pull))), headers }
}

async function create(call: HostCall, model: HostModel): Promise<HostAnswer> {
  const head = textMember(call.body, 'source_branch') ?? ''
  const base = textMember(call.body, 'target_branch') ?? ''
  const title = textMember(call.body, 'title') ?? ''
  if (head === base) return said(422, ["You can't use same project/branch for source and target"])
  const [headThere, baseThere] = [await model.branches.has(head), await model.branches.has(base)]
  if (!headThere) return said(400, { source_branch: ['does not exist'] })
  if (!baseThere) return said(400, { target_branch: ['does not exist'] })
  const other = model.pulls.find(
    (pull) =>
      pull.state === 'open' && pull.head === head && pull.base === base && pull.headOwner === undefined,
  )
  if (other !== undefined)
    return said(409, [`Another open merge request already exists for this source branch: !${other.number}`])
  const body = withoutQuickActions(textMember(call.body, 'description') ?? '')
  const pull = addPull(model, { base, head, title, body, draft: isDraft(title) })
  return { status: 201, body: mergeRequestBody(call, model, pull) }
}

function show(call: HostCall, model: HostModel): HostAnswer {
  const pull = pullOf(call, model)
  return pull === undefined ? said(404, '404 Not found') : ok(mergeRequestBody(call, model, pull))
}

function edit(call: HostCall, model: HostModel): HostAnswer {
  const pull = pullOf(call, model)
  if (pull === undefined) return said(404, '404 Not found')
  pull.title = textMember(call.body, 'title') ?? pull.title
  pull.draft = isDraft(pull.title)
  pull.body = withoutQuickActions(textMember(call.body, 'description') ?? pull.body)
  for (const label of textMember(call.body, 'add_labels')?.split(',') ?? []) {
    // GitLab creates the labels that the project does not have.
    model.labels.add(label)
    if (!pull.labels.includes(label)) pull.labels.push(label)
  }
  for (const [field, names] of [
    ['reviewer_ids', pull.reviewers] as const,
    ['assignee_ids', pull.assignees] as const,
  ]) {
    const ids = member(call.body, field)
    const people = elements(ids).map((id) => personNumbered(model, id))
    if (ids !== undefined) names.splice(0, names.length, ...people.filter((name) => name !== undefined))
  }
  return ok(mergeRequestBody(call, model, pull))
}

/** A range of which one end is missing is empty. */
async function commits(call: HostCall, model: HostModel): Promise<HostAnswer> {
  const range = /^refs\/heads\/(.+)\.\.refs\/heads\/(.+)$/.exec(call.query.get('ref_name') ?? '')
  const [, base = '', head = ''] = range ?? []
  const both = (await model.branches.has(base)) && (await model.branches.has(head))
  const ahead = both ? await model.branches.ahead(base, head) : 0
  return ok(ahead > 0 ? [commitBody(call, model)] : [])
}

async function branch(call: HostCall, model: HostModel): Promise<HostAnswer> {
  const name = decodeURIComponent(call.match[1] ?? '')
  return (await model.branches.has(name))
    ? ok({ ...branchBody(call, model, name), ...gitlabProtection(call, model, name) })
    : said(404, '404 Branch Not Found')
}

function users(call: HostCall, model: HostModel): HostAnswer {
  const username = call.query.get('username') ?? ''
  return ok(model.people.has(username) ? [userBody(call, model, username)] : [])
}

function pullOf({ match }: HostCall, { pulls }: HostModel): ModelPull | undefined {
  return pulls.find(({ number }) => number === Number(match[1]))
}

/** They are executed, and are not part of the text. */
function withoutQuickActions(description: string): string {
  return description.replace(QUICK_ACTION, '').trimEnd()
}

/** Redirects to the same path with the project's number. */
function redirect({ origin, apiPath, path, query }: HostCall): HostAnswer {
  const tail = query.size === 0 ? '' : `?${query.toString()}`
  const location = `${origin}${apiPath}${path.replace(/^\/projects\/[^/]+/, `/projects/${PROJECT_ID}`)}${tail}`
  return {
    status: 301,
    headers: { location, 'content-type': 'application/json' },
    body: `This resource has been moved permanently to ${location}`,
  }
}

function notForMoved(): HostAnswer {
  return said(405, 'Non GET methods are not allowed for moved projects')
}

function limitHeaders(seconds: number): Readonly<Record<string, string>> {
  return {
    'ratelimit-limit': '2000',
    'ratelimit-name': 'throttle_authenticated_api',
    'ratelimit-observed': '2001',
    'ratelimit-remaining': '0',
    'ratelimit-reset': String(Math.ceil(Date.now() / 1000) + seconds),
    'retry-after': String(seconds),
  }
}

function bearer(authorization: string | null): string | undefined {
  return /^Bearer (.+)$/.exec(authorization ?? '')?.[1]
}

function ok(body: unknown): HostAnswer {
  return { status: 200, body }
}

function said(status: number, message: unknown): HostAnswer {
  return { status, body: { message } }
}
