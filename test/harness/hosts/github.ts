import { elements, member, textMember } from '../../../functions/domain/json-value.ts'
import type { Dialect, HostAnswer, HostCall, Route } from './dialect.ts'
import { answerToApp } from './github-app.ts'
import { answerToQuery } from './github-commit.ts'
import { issueBody, labelBody, pullBody, REPOSITORY_ID, repositoryBody, userBody } from './github-bodies.ts'
import { openPull } from './github-opening.ts'
import { LITERAL } from './github-literal.ts'
import { GITHUB_IDENTITY, githubPermissions } from './identity-routes.ts'
import type { HostModel, ModelPull } from './model.ts'
import { GITHUB_OPERATIONS } from './operations/github.ts'

const HOME = String.raw`^(?:/repos/[^/]+/[^/]+|/repositories/${REPOSITORY_ID})`

/** GitHub, at the address of an Enterprise Server. */
export const github: Dialect = {
  name: 'github',
  operations: GITHUB_OPERATIONS,
  apiPath: '/api/v3',
  graphQL: true,
  aliases: [{ from: /^\/repositories\/\d+(?=\/|$)/, to: '/repos/owner/name' }],
  repositoryOf(path) {
    const [, owner, name] = /^\/repos\/([^/]+)\/([^/]+)/.exec(path) ?? []
    return owner === undefined || name === undefined ? undefined : [owner, name].map(decodeURIComponent)
  },
  tokenOf: (headers) => /^(?:token|bearer) (.+)$/i.exec(headers.get('authorization') ?? '')?.[1],
  answers: LITERAL,
  answerToApp,
  routes: [
    ...GITHUB_IDENTITY,
    { method: 'POST', path: /^\/graphql$/, answer: answerToQuery },
    route('GET', '', (call, model) =>
      ok({ ...repositoryBody(model.movedTo ?? model.repository, call), ...githubPermissions(call, model) }),
    ),
    route('GET', '/pulls', listPulls),
    route('POST', '/pulls', openPull),
    route('GET', '/pulls/(\\d+)', about(shown)),
    route('PATCH', '/pulls/(\\d+)', about(changed)),
    route('GET', '/pulls/(\\d+)/requested_reviewers', about(askedReviewers)),
    route('POST', '/pulls/(\\d+)/requested_reviewers', about(askReviewers)),
    route(
      'GET',
      '/pulls/(\\d+)/reviews',
      about(() => ok([])),
    ),
    route('POST', '/issues/(\\d+)/labels', about(label)),
    route('POST', '/issues/(\\d+)/assignees', about(assign)),
  ],
}

function route(method: Route['method'], path: string, answer: Route['answer']): Route {
  return { method, path: new RegExp(`${HOME}${path}$`), answer }
}

interface Stage {
  readonly call: HostCall
  readonly model: HostModel
}

/** Answers about the pull request whose number is in the path. */
function about(answer: (pull: ModelPull, stage: Stage) => HostAnswer): Route['answer'] {
  return (call, model) => {
    const pull = model.pulls.find(({ number }) => String(number) === call.match[1])
    return pull === undefined ? LITERAL.notFound : answer(pull, { call, model })
  }
}

function ok(body: unknown): HostAnswer {
  return { status: 200, body }
}

const PER_PAGE = 30

function listPulls(call: HostCall, model: HostModel): HostAnswer {
  const { query } = call
  const [owner = ''] = model.movedTo ?? model.repository
  const state = query.get('state') ?? 'open'
  const head = query.get('head') ?? ''
  const fits = (pull: ModelPull): boolean =>
    (state === 'all' || state === (pull.state === 'open' ? 'open' : 'closed')) &&
    (query.get('base') ?? pull.base) === pull.base &&
    // A branch without its owner is ignored.
    (!head.includes(':') || head.toLowerCase() === `${pull.headOwner ?? owner}:${pull.head}`.toLowerCase())
  const found = model.pulls.filter(fits)
  const sorted = query.get('direction') === 'asc' ? found : found.toReversed()
  const size = Number(query.get('per_page') ?? PER_PAGE)
  const page = Number(query.get('page') ?? 1)
  const shownOnes = sorted.slice((page - 1) * size, page * size)
  const body = shownOnes.map((pull) => pullBody(pull, { model, place: call }))
  if (page * size >= sorted.length) return ok(body)
  const next = new URLSearchParams([...query].filter(([key]) => key !== 'page'))
  next.set('page', String(page + 1))
  const address = `${call.origin}${call.apiPath}/repositories/${REPOSITORY_ID}/pulls?${next.toString()}`
  return { status: 200, headers: { link: `<${address}>; rel="next"` }, body }
}

function shown(pull: ModelPull, { call, model }: Stage): HostAnswer {
  return ok(pullBody(pull, { model, place: call }))
}

function changed(pull: ModelPull, stage: Stage): HostAnswer {
  const { body } = stage.call
  pull.title = textMember(body, 'title') ?? pull.title
  pull.body = textMember(body, 'body') ?? pull.body
  if (textMember(body, 'state') === 'closed') pull.state = 'closed'
  return shown(pull, stage)
}

function askedReviewers(pull: ModelPull, { call }: Stage): HostAnswer {
  return ok({ users: pull.reviewers.map((login) => userBody(login, call)), teams: [] })
}

function askReviewers(pull: ModelPull, { call, model }: Stage): HostAnswer {
  const logins = texts(member(call.body, 'reviewers'))
  const full = (model.movedTo ?? model.repository).join('/')
  if (!logins.every((login) => model.people.has(login))) {
    const message = `Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the ${full} repository.`
    const documentation_url =
      'https://docs.github.com/rest/pulls/review-requests#request-reviewers-for-a-pull-request'
    return { status: 422, body: { message, documentation_url, status: '422' } }
  }
  unite(pull.reviewers, logins)
  return { status: 201, body: pullBody(pull, { model, place: call }) }
}

// For a user who may push, missing labels are created.
function label(pull: ModelPull, { call, model }: Stage): HostAnswer {
  const names = texts(member(call.body, 'labels'))
  for (const name of names) model.labels.add(name)
  unite(pull.labels, names)
  return ok(pull.labels.map((name) => labelBody(name, call)))
}

// Users who cannot be assigned are left out silently.
function assign(pull: ModelPull, { call, model }: Stage): HostAnswer {
  const logins = texts(member(call.body, 'assignees'))
  unite(
    pull.assignees,
    logins.filter((login) => model.people.has(login)),
  )
  return { status: 201, body: issueBody(pull, { model, place: call }) }
}

function texts(list: unknown): readonly string[] {
  return elements(list).map(String)
}

function unite(list: string[], more: readonly string[]): void {
  list.push(...more.filter((one) => !list.includes(one)))
}
