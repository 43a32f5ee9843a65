import t from 'tap'
import {
  branchFailure,
  gitlabFailure,
  lacksProject,
  projectFailure,
  saysExists,
  saysForbiddenOnly,
} from '../../../functions/providers/gitlab/errors.ts'
import type { ApiAnswer } from '../../../functions/providers/api-answer.ts'

const SHOWN = 'https://gitlab.example.com/acme/shop.git'
const SPEECH = { shown: SHOWN, secrets: ['s3cret'] }
const BRANCHES = { base: 'main', head: 'settings', headOwner: undefined }
const DATE = 'Sat, 21 Nov 2026 12:00:00 GMT'
const NOON = Date.parse(DATE) / 1000

function answer(status: number, data: unknown, headers: Readonly<Record<string, string>> = {}): ApiAnswer {
  return { status, data, headers: new Headers({ date: DATE, ...headers }) }
}

const said = (status: number, message: unknown): ApiAnswer => answer(status, { message })
const scope = (scopes: string): ApiAnswer =>
  answer(403, {
    error: 'insufficient_scope',
    error_description: 'The request requires higher privileges than provided by the access token.',
    scope: scopes,
  })
const granular = (description: string): ApiAnswer =>
  answer(403, { error: 'insufficient_granular_scope', error_description: description })

for (const [what, given, reason, message] of [
  ['a bad token', said(401, '401 Unauthorized'), 'AuthenticationFailed', /\(401\)/],
  [
    'an expired token',
    answer(401, {
      error: 'invalid_token',
      error_description: 'Token is expired. You can either do re-authorization or token refresh.',
    }),
    'AuthenticationFailed',
    /\(401\)/,
  ],
  ['a scope too little', scope('api'), 'PermissionDenied', /lacks "api"/],
  ['a scope too little for reading', scope('api read_api ai_workflows'), 'PermissionDenied', /lacks "api"/],
  ['another scope', scope('read_user'), 'PermissionDenied', /lacks "read_user"/],
  ['a scope that cannot be shown', scope('<b>'), 'PermissionDenied', /lacks the scope /],
  [
    'a single permission too little',
    granular('Access denied: Your token lacks the permissions: [Merge Request: Create] for "acme/shop".'),
    'PermissionDenied',
    /lacks "Merge Request: Create"/,
  ],
  ['single permissions without names', granular('Access denied.'), 'PermissionDenied', /lacks the scope/],
  ['no right', said(403, '403 Forbidden'), 'PermissionDenied', /archived/],
  [
    'no right, with the reason',
    said(403, '403 Forbidden - Your account is blocked. s3cret'),
    'PermissionDenied',
    /"Your account is blocked\. \*\*\*"/,
  ],
  ['a ban for failed logins', answer(403, 'Forbidden\n'), 'PermissionDenied', /\(403\)/],
  ['a project that is not visible', said(404, '404 Project Not Found'), 'RepositoryNotFound', /not visible/],
  [
    'a project that was renamed',
    said(405, 'Non GET methods are not allowed for moved projects'),
    'RepositoryNotFound',
    /has moved/,
  ],
  ['a method that is not allowed', said(405, '405 Method Not Allowed'), 'PullRequestRejected', /\(405\)/],
  ['a lock', said(409, '409 Conflict: Resource lock'), 'ProviderUnavailable', /\(409\)/],
  [
    'one branch for both',
    said(422, ["You can't use same project/branch for source and target"]),
    'PullRequestRejected',
    /You can't use same project\/branch/,
  ],
  [
    'merge requests that are disabled',
    said(422, ['Target project has disabled merge requests']),
    'PullRequestRejected',
    /"Target project has disabled merge requests"/,
  ],
  [
    'a title that is too long',
    said(400, { title: ['is too long (maximum is 255 characters)'] }),
    'PullRequestRejected',
    /title.+is too long/,
  ],
  ['a missing field', answer(400, { error: 'title is missing' }), 'PullRequestRejected', /title is missing/],
  ['a slow database', said(408, { error: 'Request timed out' }), 'ProviderUnavailable', /\(408\)/],
  ['a fault', said(500, '500 Internal Server Error'), 'ProviderUnavailable', /\(500\)/],
] as const) {
  t.test(`${what} is ${reason}`, async (t) => {
    const failure = gitlabFailure(given, SPEECH)
    t.match(failure, { reason, message })
    t.ok(failure.message.includes(SHOWN))
    t.notMatch(failure.message, /s3cret/)
    t.equal(failure.cause, undefined)
  })
}

for (const [what, headers, seconds] of [
  ['Retry-After', { 'retry-after': '30', 'ratelimit-reset': String(NOON + 90) }, 30],
  ['RateLimit-Reset', { 'ratelimit-reset': String(NOON + 90) }, 90],
  ['nothing', {}, 60],
] as const) {
  t.test(`a limit with ${what} ends after ${seconds} s`, async (t) => {
    t.match(gitlabFailure(answer(429, 'Retry later\n', headers), SPEECH), {
      reason: 'RateLimited',
      retryAfterSeconds: seconds,
    })
  })
}

for (const [what, given, exists] of [
  [
    'another open merge request',
    said(409, ['Another open merge request already exists for this source branch: !5']),
    true,
  ],
  ['the same in another language', said(409, ['Eine weitere offene Merge-Anfrage: !5']), true],
  ['a lock', said(409, '409 Conflict: Resource lock'), false],
  ['a refusal', said(422, ['already exists']), false],
] as const) {
  t.test(`${what} ${exists ? 'exists' : 'does not count as existing'}`, async (t) => {
    t.equal(saysExists(given), exists)
  })
}

for (const [given, message] of [
  [said(400, { source_branch: ['does not exist'] }), /the branch settings \(yet\)/],
  [said(400, { target_branch: ['existiert nicht'] }), /the branch main \(yet\)/],
  [said(400, { title: ['is too long'] }), undefined],
  [said(422, { source_branch: ['does not exist'] }), undefined],
  [said(400, 'source_branch'), undefined],
] as const) {
  t.test(`${JSON.stringify(given.data)} (${given.status}) is ${message ?? 'about no branch'}`, async (t) => {
    const failure = branchFailure(given, BRANCHES, SHOWN)
    if (message === undefined) t.equal(failure, undefined)
    else t.match(failure, { reason: 'HeadNotFound', message })
  })
}

for (const [project, reason, message] of [
  [{ archived: true }, 'PermissionDenied', /archived/],
  [{ archived: false, merge_requests_access_level: 'disabled' }, 'PullRequestRejected', /are disabled/],
  [{ merge_requests_enabled: false }, 'PullRequestRejected', /are disabled/],
] as const) {
  t.test(`a project that is ${JSON.stringify(project)} is ${reason}`, async (t) => {
    t.match(projectFailure(project, SPEECH), { reason, message })
  })
}

t.test('a project that accepts merge requests, or that is not a project, is not a failure', async (t) => {
  for (const project of [{ archived: false, merge_requests_access_level: 'private' }, {}, null, 'x'])
    t.equal(projectFailure(project, SPEECH), undefined)
})

t.test('only a bare 403 needs another request', async (t) => {
  t.equal(saysForbiddenOnly(said(403, '403 Forbidden')), true)
  for (const other of [
    said(403, '403 Forbidden - why'),
    scope('api'),
    said(404, '403 Forbidden'),
    said(403, 7),
  ])
    t.equal(saysForbiddenOnly(other), false)
})

t.test('a missing project is distinguished from what is missing in it', async (t) => {
  t.equal(lacksProject(said(404, '404 Project Not Found')), true)
  for (const other of [
    said(404, '404 Not found'),
    said(404, '404 Branch Not Found'),
    said(403, '404 Project'),
  ])
    t.equal(lacksProject(other), false)
})

t.test('the message is read from an answer of any depth', async (t) => {
  const deep: unknown = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)
  for (const status of [400, 403, 404, 405, 409, 422])
    t.type(gitlabFailure(said(status, deep), SPEECH).message, 'string', String(status))
  t.match(gitlabFailure(said(409, { base: ['Resource lock'] }), SPEECH), { reason: 'ProviderUnavailable' })
})
