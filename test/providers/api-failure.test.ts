import t from 'tap'
import {
  answerFailure,
  archived,
  branchMissing,
  forbidden,
  missingScope,
  moved,
  nothingToMerge,
  notUnderstood,
  rateLimited,
  rejected,
  unavailable,
} from '../../functions/providers/api-failure.ts'
import type { ApiAnswer } from '../../functions/providers/api-answer.ts'
import type { Failure } from '../../functions/domain/failure.ts'

const SHOWN = 'https://git.example.com/acme/shop.git'
const SECRET = 'tkn-0123456789abcdef'
const SPEECH = { shown: SHOWN, secrets: [SECRET] }
const BRANCHES = { base: 'main', head: 'feature', headOwner: undefined }

function answer(status: number, data: unknown = {}, headers: Record<string, string> = {}): ApiAnswer {
  return { status, data, headers: new Headers(headers) }
}

const STATUSES: readonly (readonly [number, Failure['reason'], RegExp])[] = [
  [200, 'ProviderUnavailable', /does not match its documentation \(200\)/],
  [204, 'ProviderUnavailable', /\(204\)/],
  [301, 'RepositoryNotFound', /has moved to another address, to which Commitlet does not send credentials/],
  [307, 'RepositoryNotFound', /has moved/],
  [400, 'PullRequestRejected', /refuses the pull request \(400\)/],
  [401, 'AuthenticationFailed', /does not accept the token/],
  [403, 'PermissionDenied', /knows the user but does not permit this \(403\)/],
  [404, 'RepositoryNotFound', /does not exist, or is not visible with these credentials/],
  [408, 'ProviderUnavailable', /cannot answer at the moment \(408\)/],
  [409, 'PullRequestRejected', /\(409\)/],
  [410, 'RepositoryNotFound', /\(410\)/],
  [422, 'PullRequestRejected', /\(422\)/],
  [423, 'PermissionDenied', /is archived/],
  [429, 'RateLimited', /asks for fewer requests/],
  [500, 'ProviderUnavailable', /\(500\)/],
  [503, 'ProviderUnavailable', /\(503\)/],
  [555, 'ProviderUnavailable', /\(555\)/],
]

for (const [status, reason, message] of STATUSES)
  t.test(`${status} is ${reason}`, async (t) =>
    t.match(answerFailure(answer(status), SPEECH), { reason, message }),
  )

const SAID: readonly Failure[] = [
  ...STATUSES.map(([status]) => answerFailure(answer(status, { message: `Not with ${SECRET}` }), SPEECH)),
  forbidden(SPEECH),
  missingScope('repo', SPEECH),
  missingScope(undefined, SPEECH),
  archived(SPEECH),
  moved(SPEECH, 'acme/store'),
  rejected('No.', 422, SPEECH),
  rejected(undefined, 422, SPEECH),
  unavailable(answer(502), SPEECH),
  notUnderstood(answer(201, '<!DOCTYPE html><title>Sign in</title>'), SPEECH),
  ...(['head', 'base', 'unknown'] as const).map((which) => branchMissing(which, BRANCHES, SHOWN)),
  nothingToMerge(BRANCHES, SHOWN),
]

t.test('each is one sentence that names the repository, and no secret', async (t) => {
  for (const { message } of SAID) {
    t.match(message, /^\S[^\n]*[;,] [^\n]+\.$/, message)
    t.ok(message.includes('git.example.com'), message)
    t.notOk(message.includes(SECRET), message)
  }
})

t.test("the host's message is quoted masked, without control characters, and limited", async (t) => {
  const words = `No ${SECRET}\u001b[31m\n${'x'.repeat(10_000)}`
  const { message } = answerFailure(answer(422, { message: words }), SPEECH)
  t.match(message, /\(422\): "No \*\*\* x+…"; fix what it names\.$/)
  t.ok(message.length < 400)
  t.equal(
    answerFailure(answer(422, '<html>'), SPEECH).message,
    `${SHOWN} refuses the pull request (422) without a reason; check its settings.`,
  )
})

t.test('a scope is named where it can be shown', async (t) => {
  t.match(
    missingScope('pull_requests=write; contents=read', SPEECH).message,
    /lacks "pull_requests=write; contents=read"/,
  )
  for (const needed of [undefined, '', '<b>', 'x'.repeat(201), 'zwei\nZeilen', SECRET.replace('-', '"')])
    t.match(missingScope(needed, SPEECH).message, /lacks the scope that/)
  t.match(missingScope(SECRET, SPEECH).message, /lacks "\*\*\*" that/)
})

t.test('the new place of what has moved is named where it can be shown', async (t) => {
  t.match(moved(SPEECH, 'acme/store').message, /has moved to acme\/store, to which/)
  for (const place of ['', '\n', undefined])
    t.match(moved(SPEECH, place).message, /has moved to another address/)
})

t.test('a rate limit has the time of the host, or a minute', async (t) => {
  t.match(rateLimited(answer(429, '', { 'retry-after': '90' }), SPEECH), { retryAfterSeconds: 90 })
  t.match(rateLimited(answer(429), SPEECH), { retryAfterSeconds: 60 })
  const now = Date.parse('2026-11-21T12:00:00Z')
  const headers = { date: new Date(now).toUTCString(), 'x-ratelimit-reset': String(now / 1000 + 1_200) }
  t.match(rateLimited(answer(403, {}, headers), SPEECH, 'x-ratelimit-reset'), { retryAfterSeconds: 1_200 })
  t.match(rateLimited(answer(403, {}, headers), SPEECH), { retryAfterSeconds: 60 })
})

const PLACES = {
  'https://git.example.com/acme/shop.git': 'git.example.com',
  'https://git.example.com:8443/acme/shop': 'git.example.com',
  'ssh://git@git.example.com:2222/acme/shop': 'git.example.com',
  'git@git.example.com:acme/shop.git': 'git.example.com',
  'https://[2001:db8::1]/acme/shop': '[2001:db8::1]',
  'git@[2001:db8::1]:acme/shop': '[2001:db8::1]',
}

t.test('the sentence of a rate limit, which other tenants read too, names only the host', async (t) => {
  for (const [shown, host] of Object.entries(PLACES)) {
    const { message } = rateLimited(answer(429), { ...SPEECH, shown })
    t.match(message, `The API of ${host} asks for fewer requests with these credentials;`)
    t.notMatch(message, /acme|shop/)
  }
})

t.test('the time that an unavailable host asks for is kept', async (t) => {
  t.match(unavailable(answer(503, '', { 'retry-after': '120' }), SPEECH), { retryAfterSeconds: 120 })
  t.equal(unavailable(answer(503), SPEECH).retryAfterSeconds, undefined)
})

t.test('a web page is distinguished from half an answer', async (t) => {
  for (const page of ['<!doctype html>', ' \n<html lang="en">', '<HTML>'])
    t.match(notUnderstood(answer(200, page), SPEECH).message, /^A web page came instead of an answer/, page)
  for (const half of ['', '<x>', {}, null, 'html'])
    t.match(
      notUnderstood(answer(201, half), SPEECH).message,
      /^The API of .* does not match its documentation/,
    )
})

t.test('a missing branch is named, both where the host does not say which', async (t) => {
  t.match(branchMissing('head', BRANCHES, SHOWN), {
    reason: 'HeadNotFound',
    message: /the branch feature \(yet\)/,
  })
  t.match(branchMissing('base', BRANCHES, SHOWN), {
    reason: 'HeadNotFound',
    message: /the branch main \(yet\)/,
  })
  t.match(branchMissing('unknown', BRANCHES, SHOWN).message, /does not have feature or main \(yet\)/)
  t.match(nothingToMerge(BRANCHES, SHOWN), { reason: 'NothingToMerge', message: /feature .* main/ })
})

t.test(
  'a status that says nothing of the pull request is not final: a gateway may ban for a while',
  async (t) => {
    const retryAfter = (status: number) =>
      answerFailure({ status, headers: new Headers(), data: '' }, { shown: 'x', secrets: [] }).retry
    t.same([405, 418, 451].map(retryAfter), ['slow', 'slow', 'slow'])
    t.same([400, 409, 413, 422].map(retryAfter), ['never', 'never', 'never', 'never'])
  },
)
