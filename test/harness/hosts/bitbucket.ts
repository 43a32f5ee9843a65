import { elements, member, textMember } from '../../../functions/domain/json-value.ts'
import { AUTHOR, bareName, listedBody, pullBody } from './bitbucket-bodies.ts'
import type { Dialect, HostAnswer, HostCall } from './dialect.ts'
import { fits, isQuery } from './bitbucket-filter.ts'
import { BITBUCKET_IDENTITY } from './identity-routes.ts'
import { addPull } from './model.ts'
import type { HostModel, ModelPull } from './model.ts'
import { BITBUCKET_OPERATIONS } from './operations/bitbucket.ts'

const PULLS = /^\/repositories\/[^/]+\/[^/]+\/pullrequests$/
const PULL = /^\/repositories\/[^/]+\/[^/]+\/pullrequests\/(\d+)$/
const LIMITS = { 'x-ratelimit-limit': '1000, 1000;w=3600', 'x-ratelimit-remaining': '0' }

/** Bitbucket Cloud's REST API 2.0. */
export const BITBUCKET: Dialect = {
  name: 'bitbucket',
  operations: BITBUCKET_OPERATIONS,
  apiPath: '/2.0',
  routes: [
    ...BITBUCKET_IDENTITY,
    { method: 'GET', path: PULLS, answer: list },
    { method: 'POST', path: PULLS, answer: create },
    { method: 'GET', path: PULL, answer: show },
    { method: 'PUT', path: PULL, answer: replace },
  ],
  repositoryOf: (path) => /^\/repositories\/([^/]+)\/([^/]+)/.exec(path)?.slice(1).map(decodeURIComponent),
  tokenOf(headers) {
    const [scheme, value = ''] = headers.get('authorization')?.split(' ') ?? []
    if (scheme === 'Bearer') return value
    // An API token needs the e-mail address of its account.
    const pair = /^[^:@]+@[^:]+:(.*)$/s.exec(Buffer.from(value, 'base64').toString())
    return scheme === 'Basic' ? pair?.[1] : undefined
  },
  answers: {
    unauthorised: error(401, 'Token is invalid, expired, or not supported for this endpoint.'),
    missingScope: error(403, 'Your credentials lack one or more required privilege scopes.', {
      detail: {
        required: ['read:pullrequest:bitbucket', 'write:pullrequest:bitbucket'],
        granted: ['read:pullrequest:bitbucket', 'read:repository:bitbucket'],
      },
    }),
    needed: 'write:pullrequest:bitbucket',
    notFound: error(
      404,
      'You may not have access to this repository or it no longer exists in this workspace. If you think this repository exists and you have access, make sure you are authenticated.',
    ),
    // Bitbucket has no archived state: a repository is retired by removing the rights.
    archived: error(403, 'Forbidden'),
    rateLimited: (seconds) => ({
      status: 429,
      // Seconds that are left, as measured on the live API.
      headers: seconds === undefined ? {} : { ...LIMITS, 'x-ratelimit-reset': String(seconds) },
      body: 'Rate limit for this resource has been exceeded',
    }),
    moved: ({ origin, apiPath, path }, place) => ({
      status: 301,
      headers: {
        location: `${origin}${apiPath}${path.replace(/^\/repositories\/[^/]+\/[^/]+/, `/repositories/${place.join('/')}`)}`,
      },
      body: '',
    }),
  },
}

function list(call: HostCall, model: HostModel): HostAnswer {
  const { query, origin, apiPath, path } = call
  const q = query.get('q') ?? ''
  if (!isQuery(q)) return error(400, 'Invalid query')
  const [pagelen, page] = [Number(query.get('pagelen') ?? 10), Number(query.get('page') ?? 1)]
  if (pagelen > 50) return error(400, 'Invalid pagelen')
  const sorted = query.get('sort') === '-created_on' ? model.pulls.toReversed() : model.pulls
  const found = sorted.filter((pull) => fits(q, listedBody(pull, call, model)))
  const next = new URLSearchParams(query)
  next.set('page', String(page + 1))
  const more = found.length > page * pagelen
  return {
    status: 200,
    body: {
      values: found.slice((page - 1) * pagelen, page * pagelen).map((pull) => listedBody(pull, call, model)),
      pagelen,
      size: found.length,
      page,
      ...(more ? { next: `${origin}${apiPath}${path}?${next.toString()}` } : {}),
    },
  }
}

async function create(call: HostCall, model: HostModel): Promise<HostAnswer> {
  const { body } = call
  const [title, head] = [textMember(body, 'title') ?? '', branchIn(body, 'source') ?? '']
  const base = branchIn(body, 'destination') ?? 'main'
  if (title === '') return invalid('title', 'This field is required.')
  if (!(await model.branches.has(head))) return invalid('source', `branch not found: ${head}`)
  if (!(await model.branches.has(base))) return invalid('destination', `branch not found: ${base}`)
  if ((await model.branches.ahead(base, head)) === 0) return error(400, 'There are no changes to be pulled')
  const text = { title, body: textMember(body, 'description') ?? '', draft: member(body, 'draft') === true }
  const open = model.pulls.find(
    (pull) =>
      pull.state === 'open' && pull.base === base && pull.head === head && pull.headOwner === undefined,
  )
  const pull =
    open === undefined
      ? addPull(model, { base, head, ...text })
      : Object.assign(open, text, { written: new Date() })
  return {
    status: 201,
    headers: { location: `${call.origin}${call.apiPath}${call.path}/${pull.number}` },
    body: pullBody(pull, call, model),
  }
}

function show(call: HostCall, model: HostModel): HostAnswer {
  const pull = calledPull(call, model)
  return pull === undefined ? error(404, 'Not found') : { status: 200, body: pullBody(pull, call, model) }
}

/** A field that is left out is emptied. */
function replace(call: HostCall, model: HostModel): HostAnswer {
  const { body } = call
  const pull = calledPull(call, model)
  if (pull === undefined) return error(404, 'Not found')
  if (pull.state !== 'open') return error(400, 'This pull request is already closed.')
  const title = textMember(body, 'title') ?? ''
  if (title === '') return invalid('title', 'This field is required.')
  const asked = elements(member(body, 'reviewers')).map(bareNameOf)
  const known = asked.map((bare) => [...model.people].find((name) => bareName(name) === bare))
  if (asked.includes(bareName(AUTHOR.uuid)))
    return invalid('reviewers', `${AUTHOR.display_name} is the author and cannot be included as a reviewer.`)
  if (known.includes(undefined)) return invalid('reviewers', 'Malformed reviewers list')
  pull.written = new Date()
  pull.title = title
  pull.body = textMember(body, 'description') ?? ''
  pull.draft = member(body, 'draft') === true
  pull.reviewers.splice(0, Infinity, ...new Set(known.filter((name) => name !== undefined)))
  return show(call, model)
}

function calledPull({ match }: HostCall, { pulls }: HostModel): ModelPull | undefined {
  return pulls.find(({ number }) => number === Number(match[1]))
}

function bareNameOf(account: unknown): string {
  return bareName(textMember(account, 'uuid') ?? textMember(account, 'account_id') ?? '')
}

function branchIn(body: unknown, end: string): string | undefined {
  return textMember(member(member(body, end), 'branch'), 'name')
}

function invalid(field: string, words: string): HostAnswer {
  return error(400, `${field}: ${words}`, { fields: { [field]: [words] } })
}

function error(status: number, message: string, more: object = {}): HostAnswer {
  return { status, body: { type: 'error', error: { message, ...more } } }
}
