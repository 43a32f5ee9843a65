import t from 'tap'
import {
  bitbucketFailure,
  creationFailure,
  reviewersRefused,
  staleReviewers,
} from '../../../functions/providers/bitbucket/errors.ts'

const SPEECH = { shown: 'https://bitbucket.org/acme/shop', secrets: ['s3cret-token'] }
const BRANCHES = { base: 'main', head: 'settings', headOwner: undefined }

interface Case {
  readonly title: string
  readonly status: number
  readonly data?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly is: object
}

function errorOf(message: string, more: object = {}): unknown {
  return { type: 'error', error: { message, ...more } }
}

const PRIVILEGES = 'Your credentials lack one or more required privilege scopes.'
const LIMIT = 'Rate limit for this resource has been exceeded'

const ANY: readonly Case[] = [
  {
    title: '401 says that app passwords are gone, and which user name goes with an API token',
    status: 401,
    data: errorOf('Token is invalid, expired, or not supported for this endpoint.'),
    is: {
      reason: 'AuthenticationFailed',
      message: /e-mail address .*app passwords do not work any more since July 2026/,
    },
  },
  {
    title: 'the scopes that are required and not granted are named',
    status: 403,
    data: errorOf(PRIVILEGES, {
      detail: { required: ['read:a:bitbucket', 'write:a:bitbucket'], granted: ['write:a:bitbucket'] },
    }),
    is: { reason: 'PermissionDenied', message: /lacks "read:a:bitbucket" that/ },
  },
  {
    title: 'all required scopes are named where all seem to be granted',
    status: 403,
    data: errorOf(PRIVILEGES, { detail: { required: ['a', 'b'], granted: ['b', 'a'] } }),
    is: { reason: 'PermissionDenied', message: /lacks "a, b" that/ },
  },
  {
    title: 'a scope that is missing without a name is said to be one',
    status: 403,
    data: errorOf(PRIVILEGES),
    is: { reason: 'PermissionDenied', message: /lacks the scope that/ },
  },
  {
    title: 'an address outside the allow list is said in the words of the host, without secrets',
    status: 403,
    data: errorOf('To access this repository, an admin must whitelist your IP. s3cret-token'),
    is: {
      reason: 'PermissionDenied',
      message: /"To access .* must whitelist your IP\. \*\*\*"; fix what it names/,
    },
  },
  {
    title: 'a bare Forbidden is not quoted',
    status: 403,
    data: errorOf('Forbidden'),
    is: { reason: 'PermissionDenied', message: /archived/ },
  },
  {
    title: 'a limit that comes as 403 is a limit',
    status: 403,
    data: errorOf(LIMIT),
    is: { reason: 'RateLimited', retryAfterSeconds: 60 },
  },
  {
    title: 'words of a user about limits are none',
    status: 403,
    data: errorOf('Only members of "Rate limit" may do this.'),
    is: { reason: 'PermissionDenied', message: /"Only members of/ },
  },
  {
    title: 'Retry-After counts before the reset',
    status: 429,
    data: LIMIT,
    headers: { 'retry-after': '7', 'x-ratelimit-reset': '745' },
    is: { reason: 'RateLimited', retryAfterSeconds: 7 },
  },
  {
    title: 'the reset is read as seconds that are left, whatever the clock says',
    status: 429,
    data: LIMIT,
    headers: { 'x-ratelimit-reset': '745', date: 'Sat, 21 Nov 2026 10:00:00 GMT' },
    is: { reason: 'RateLimited', retryAfterSeconds: 745 },
  },
  {
    title: 'a redirect means that it has moved',
    status: 301,
    is: { reason: 'RepositoryNotFound', message: /has moved to another/ },
  },
  {
    title: '410 means that it is not there',
    status: 410,
    data: errorOf('CHANGE-2770 - Functionality has been deprecated'),
    is: { reason: 'RepositoryNotFound', message: /\(410\)/ },
  },
  {
    title: '555, a timeout of Bitbucket, is retried',
    status: 555,
    data: '<html>',
    is: { reason: 'ProviderUnavailable', retry: 'transient', message: /\(555\)/ },
  },
  {
    title: 'a web page with 200 is not a valid answer',
    status: 200,
    data: '<!DOCTYPE html><title>Log in</title>',
    is: { reason: 'ProviderUnavailable', message: /web page/ },
  },
  {
    title: 'everything else is refused in the words of the host, without secrets',
    status: 400,
    data: errorOf('title: not with s3cret-token', { fields: { title: ['not with s3cret-token'] } }),
    is: { reason: 'PullRequestRejected', retry: 'never', message: /\(400\): "title: not with \*\*\*"/ },
  },
  {
    title: 'everything else without a message is refused as well',
    status: 409,
    data: null,
    is: { reason: 'PullRequestRejected', message: /\(409\)/ },
  },
]

const CREATION: readonly Case[] = [
  {
    title: 'a head without a commit of its own has nothing to merge',
    status: 400,
    data: errorOf('There are no changes to be pulled'),
    is: { reason: 'NothingToMerge' },
  },
  {
    title: 'a head that is missing is named by the field',
    status: 400,
    data: errorOf('Bad request', { fields: { source: ['branch not found: settings'] } }),
    is: { reason: 'HeadNotFound', message: /the branch settings \(yet\)/ },
  },
  {
    title: 'a head that is missing is named by the message alone',
    status: 400,
    data: errorOf('source: branch not found: settings'),
    is: { reason: 'HeadNotFound', message: /the branch settings \(yet\)/ },
  },
  {
    title: 'a base that is missing is named',
    status: 400,
    data: errorOf('Bad request', {
      fields: { destination: 'branch not found: main' },
    }),
    is: { reason: 'HeadNotFound', message: /the branch main \(yet\)/ },
  },
  {
    title: 'a missing branch that is not named may be either',
    status: 400,
    data: errorOf('branch not found'),
    is: { reason: 'HeadNotFound', message: /settings or main/ },
  },
  {
    title: 'the same message with another status does not mean that',
    status: 403,
    data: errorOf('There are no changes to be pulled'),
    is: { reason: 'PermissionDenied' },
  },
  {
    title: 'any other refused creation is refused',
    status: 400,
    data: errorOf('title: too long'),
    is: { reason: 'PullRequestRejected', message: /too long/ },
  },
]

function answerOf({ status, data, headers = {} }: Case): Parameters<typeof bitbucketFailure>[0] {
  return { status, data, headers: new Headers(headers) }
}

t.test('what Bitbucket answers', async (t) => {
  for (const one of ANY) t.match(bitbucketFailure(answerOf(one), SPEECH), one.is, one.title)
})

t.test('what Bitbucket answers to a creation', async (t) => {
  for (const one of CREATION) t.match(creationFailure(answerOf(one), BRANCHES, SPEECH), one.is, one.title)
})

t.test('only 400 about the field of reviewers is about reviewers', async (t) => {
  const headers = new Headers()
  const data = errorOf('reviewers: Malformed reviewers list', {
    fields: { reviewers: ['Malformed reviewers list'] },
  })
  t.equal(reviewersRefused({ status: 400, headers, data }), 'reviewers: Malformed reviewers list')
  t.equal(reviewersRefused({ status: 403, headers, data }), undefined)
  t.equal(reviewersRefused({ status: 400, headers, data: errorOf('title: too long') }), undefined)
})

t.test('reviewers who do not exist any more have to be removed', async (t) => {
  t.match(staleReviewers(7, 'reviewers: Malformed s3cret-token', SPEECH), {
    reason: 'PullRequestRejected',
    message: /#7 of .*"reviewers: Malformed \*\*\*"; remove the reviewers/,
  })
})
