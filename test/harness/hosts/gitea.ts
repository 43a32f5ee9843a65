import { setTimeout } from 'node:timers/promises'
import { textMember } from '../../../functions/domain/json-value.ts'
import type { Dialect, HostAnswer, HostCall } from './dialect.ts'
import { isDraft, pullBody, repositoryBody } from './gitea-bodies.ts'
import { addLabels, assign, askForReviews, listReviews } from './gitea-details.ts'
import { error, NOT_FOUND, page } from './gitea-literal.ts'
import { GITEA_IDENTITY, giteaPermissions } from './identity-routes.ts'
import { addPull } from './model.ts'
import type { HostModel, ModelPull } from './model.ts'
import { GITEA_OPERATIONS } from './operations/gitea.ts'

const REPO = '^/repos/[^/]+/[^/]+'
const PULL = new RegExp(`${REPO}/pulls/(\\d+)$`)
/** Between the check for one of the same branches and the insertion: longer than the pause of test/harness/wait.ts. */
const BETWEEN_MS = 30

/** Gitea's REST API v1, which Forgejo has as well. */
export const GITEA: Dialect = {
  name: 'gitea',
  operations: GITEA_OPERATIONS,
  apiPath: '/api/v1',
  routes: [
    ...GITEA_IDENTITY,
    { method: 'GET', path: new RegExp(`${REPO}/pulls$`), answer: list },
    { method: 'POST', path: new RegExp(`${REPO}/pulls$`), answer: create },
    { method: 'GET', path: PULL, answer: show },
    { method: 'PATCH', path: PULL, answer: edit },
    { method: 'GET', path: new RegExp(`${REPO}/pulls/(\\d+)/reviews$`), answer: found(listReviews) },
    {
      method: 'POST',
      path: new RegExp(`${REPO}/pulls/(\\d+)/requested_reviewers$`),
      answer: found(askForReviews),
    },
    { method: 'POST', path: new RegExp(`${REPO}/issues/(\\d+)/labels$`), answer: found(addLabels) },
    { method: 'GET', path: new RegExp(`${REPO}/commits$`), answer: commits },
    { method: 'GET', path: new RegExp(`${REPO}$`), answer: repository },
    { method: 'GET', path: new RegExp(`${REPO}/pulls/([^/]+)/([^/]+)$`), answer: showByBranches },
  ],
  repositoryOf: (path) => /^\/repos\/([^/]+)\/([^/]+)/.exec(path)?.slice(1).map(decodeURIComponent),
  tokenOf(headers) {
    const [scheme = '', value = ''] = headers.get('authorization')?.split(' ') ?? []
    if (/^(?:bearer|token)$/i.test(scheme)) return value
    const [, name = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(value, 'base64').toString()) ?? []
    // The token may be the user name as well.
    return scheme === 'Basic' ? password || name : undefined
  },
  answers: {
    unauthorised: error(401, 'invalid username, password or token'),
    missingScope: error(
      403,
      'token does not have at least one of required scope(s), required=[write:repository], token scope=read:repository',
    ),
    needed: 'write:repository',
    notFound: NOT_FOUND,
    archived: error(423, 'acme/shop is archived'),
    // Gitea has no limits: the proxy in front of it answers.
    rateLimited: (seconds) => ({
      status: 429,
      headers: seconds === undefined ? {} : { 'retry-after': String(seconds) },
      body: '<html><head><title>429 Too Many Requests</title></head></html>',
    }),
    moved: ({ apiPath, path, query }, place) => ({
      status: 301,
      headers: {
        location: `${apiPath}${path.replace(/^\/repos\/[^/]+\/[^/]+/, `/repos/${place.join('/')}`)}?${query.toString()}`,
      },
      body: '',
    }),
  },
}

/** Whatever else stands in the query is ignored, `head` among it. */
function list(call: HostCall, model: HostModel): HostAnswer {
  const { query } = call
  const [state, base] = [query.get('state') ?? 'open', query.get('base_branch') ?? '']
  const found = model.pulls
    .filter((pull) => state === 'all' || (state === 'open') === (pull.state === 'open'))
    .filter((pull) => base === '' || pull.base === base)
    .toReversed()
  return page(call, found, (pull) => pullBody(pull, call, model))
}

async function create(call: HostCall, model: HostModel): Promise<HostAnswer> {
  const { body } = call
  const [head, base] = [textMember(body, 'head') ?? '', textMember(body, 'base') ?? '']
  const title = textMember(body, 'title') ?? ''
  if (title === '') return error(422, '[Title]: Required')
  if (head === base)
    return error(422, 'Invalid PullRequest: There are no changes between the head and the base')
  if (!(await model.branches.has(base)) || !(await model.branches.has(head))) return NOT_FOUND
  const same = openOne(model, base, head)
  if (same !== undefined)
    return error(
      409,
      `pull request already exists for these targets [id: ${same.number}, issue_id: ${same.number}, head_repo_id: 1, base_repo_id: 1, head_branch: ${head}, base_branch: ${base}]`,
    )
  // A concurrent request does not see it: six at the same moment make six.
  await setTimeout(BETWEEN_MS)
  const text = { title: title.trim(), body: textMember(body, 'body') ?? '', draft: isDraft(title) }
  return { status: 201, body: pullBody(addPull(model, { base, head, ...text }), call, model) }
}

function show(call: HostCall, model: HostModel): HostAnswer {
  return found((pull) => ({ status: 200, body: pullBody(pull, call, model) }))(call, model)
}

/** Gitea shows one of any state (models/issues/pull.go, GetPullRequestByBaseHeadInfo). */
function showByBranches(call: HostCall, model: HostModel): HostAnswer {
  const [base = '', head = ''] = call.match.slice(1).map(decodeURIComponent)
  const pull = model.pulls.find((one) => joins(one, base, head))
  return pull === undefined ? NOT_FOUND : { status: 200, body: pullBody(pull, call, model) }
}

/** A field that is left out is kept. */
function edit(call: HostCall, model: HostModel): HostAnswer {
  const { body } = call
  return found((pull) => {
    pull.title = textMember(body, 'title')?.trim() || pull.title
    pull.draft = isDraft(pull.title)
    pull.body = textMember(body, 'body') ?? pull.body
    const refused = assign(pull, call, model)
    return refused ?? { status: 201, body: pullBody(pull, call, model) }
  })(call, model)
}

/** A missing branch is a server error, because git gets both without a check. */
async function commits({ query }: HostCall, { branches }: HostModel): Promise<HostAnswer> {
  const [head = '', base = ''] = ['sha', 'not'].map((name) => query.get(name)?.replace(/^refs\/heads\//, ''))
  if (!(await branches.has(base)) || !(await branches.has(head))) return error(500, '')
  const total = await branches.ahead(base, head)
  const length = Math.min(total, Number(query.get('limit') ?? 50))
  return {
    status: 200,
    headers: { 'x-total-count': String(total) },
    body: Array.from({ length }, (_, index) => ({ sha: String(index).padStart(40, '0') })),
  }
}

function repository(call: HostCall, model: HostModel): HostAnswer {
  const body = { ...Object(repositoryBody(model.repository, call)), ...giteaPermissions(call, model) }
  return { status: 200, body }
}

function openOne({ pulls }: HostModel, base: string, head: string): ModelPull | undefined {
  return pulls.find((pull) => pull.state === 'open' && joins(pull, base, head))
}

function joins(pull: ModelPull, base: string, head: string): boolean {
  return pull.base === base && pull.head === head && pull.headOwner === undefined
}

/** Answers about the pull request whose number is in the path. */
function found(
  answer: (pull: ModelPull, call: HostCall, model: HostModel) => HostAnswer,
): (call: HostCall, model: HostModel) => HostAnswer {
  return (call, model) => {
    const pull = model.pulls.find(({ number }) => number === Number(call.match[1]))
    return pull === undefined ? NOT_FOUND : answer(pull, call, model)
  }
}
