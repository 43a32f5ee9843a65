import t from 'tap'
import {
  giteaFailure,
  mayLackBranch,
  refusesPeople,
  saysNoChanges,
  wordsIn,
} from '../../../functions/providers/gitea/errors.ts'

const SPEECH = { shown: 'https://git.example.com/acme/shop', secrets: ['s3cret-token'] }
const SCOPE = 'token does not have at least one of required scope(s), '

interface Case {
  readonly title: string
  readonly status: number
  readonly data?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly is: object
}

const CASES: readonly Case[] = [
  {
    title: 'the scopes that are required are named',
    status: 403,
    data: said(`${SCOPE}required=[write:repository], token scope=read:repository`),
    is: { reason: 'PermissionDenied', message: /lacks "write:repository" that/ },
  },
  {
    title: 'an invalid scope, or one with a secret, is not shown',
    status: 403,
    data: said(`${SCOPE}required=[s3cret-token <b>], token scope=`),
    is: { reason: 'PermissionDenied', message: /lacks the scope that/ },
  },
  {
    title: 'another message of a 403 is quoted, without secrets',
    status: 403,
    data: said('user should be a collaborator, s3cret-token'),
    is: { reason: 'PermissionDenied', message: /"user should be a collaborator, \*\*\*"; fix what it names/ },
  },
  {
    title: 'a 403 without a message is about rights',
    status: 403,
    data: '',
    is: { reason: 'PermissionDenied', message: /does not permit this \(403\); give/ },
  },
  {
    title: 'a wrong token',
    status: 401,
    data: said('invalid username, password or token'),
    is: { reason: 'AuthenticationFailed' },
  },
  {
    title: 'an archived repository',
    status: 423,
    data: said('acme/shop is archived'),
    is: { reason: 'PermissionDenied', message: /archived/ },
  },
  {
    title: 'what is not there, in JSON or as the text of an unknown path',
    status: 404,
    data: '404 page not found\n',
    is: { reason: 'RepositoryNotFound' },
  },
  {
    title: 'the limit of a proxy before it',
    status: 429,
    data: '<html>',
    headers: { 'retry-after': '7' },
    is: { reason: 'RateLimited', retryAfterSeconds: 7 },
  },
  {
    title: 'everything else is refused in the words of the host, without secrets',
    status: 422,
    data: said('[Title]: Required s3cret-token'),
    is: { reason: 'PullRequestRejected', retry: 'never', message: /\(422\): "\[Title\]: Required \*\*\*"/ },
  },
  {
    title: 'a web page with 200 is not a valid answer',
    status: 200,
    data: '<!DOCTYPE html>',
    is: { reason: 'ProviderUnavailable', message: /web page/ },
  },
  ...[301, 307].map((status) => ({
    title: `a renamed repository is named by the place that it leads to (${status})`,
    status,
    headers: { location: '/git/api/v1/repos/acme/market.v2/pulls?state=open' },
    is: { reason: 'RepositoryNotFound', message: /has moved to acme\/market\.v2,/ },
  })),
  ...[
    {},
    { location: 'https://evil.example/?/api/v1/repos/acme' },
    { location: '/api/v1/repos/a%2Fb/c%0Ad/pulls' },
    { location: `/api/v1/repos/${'a'.repeat(101)}/b/pulls` },
    { location: '/user/login' },
  ].map((headers) => ({
    title: `a redirect elsewhere means that it has moved (${JSON.stringify(headers)})`,
    status: 302,
    headers,
    is: { reason: 'RepositoryNotFound', message: /has moved to another address/ },
  })),
]

function said(message: string): unknown {
  return { message, url: 'https://git.example.com/api/swagger' }
}

function answerOf(one: Pick<Case, 'status' | 'data' | 'headers'>): Parameters<typeof giteaFailure>[0] {
  return { status: one.status, data: one.data, headers: new Headers(one.headers) }
}

t.test('what Gitea answers', async (t) => {
  for (const one of CASES) t.match(giteaFailure(answerOf(one), SPEECH), one.is, one.title)
})

t.test('only 422 means nothing to merge', async (t) => {
  const data = said('Invalid PullRequest: There are no changes between the head and the base')
  t.ok(saysNoChanges(answerOf({ status: 422, data })))
  t.notOk(saysNoChanges(answerOf({ status: 403, data })))
  t.notOk(saysNoChanges(answerOf({ status: 422, data: said('[Title]: Required') })))
})

t.test('a branch may be missing behind an answer that does not name it', async (t) => {
  for (const status of [404, 409, 500]) t.ok(mayLackBranch(answerOf({ status })), String(status))
  t.ok(mayLackBranch(answerOf({ status: 422, data: said('base and head must be branches') })))
  for (const status of [401, 403, 422, 423, 503]) t.notOk(mayLackBranch(answerOf({ status })), String(status))
})

t.test('people are refused by 422, and by a 404 about a user', async (t) => {
  t.ok(refusesPeople(answerOf({ status: 422, data: said("Reviewer can't read [user_id: 1, repo_id: 1]") })))
  t.ok(refusesPeople(answerOf({ status: 404, data: said("User 'dev' not exist") })))
  t.notOk(refusesPeople(answerOf({ status: 404, data: said('not found') })))
  t.notOk(refusesPeople(answerOf({ status: 403, data: said("User 'dev' not exist") })))
})

t.test('the message of a refusal is quoted, or the status where there is none', async (t) => {
  const words = wordsIn(answerOf({ status: 422, data: said('no s3cret-token') }), SPEECH)
  t.equal(words, ' (422: "no ***")')
  t.equal(wordsIn(answerOf({ status: 500, data: said('') }), SPEECH), ' (500)')
})
