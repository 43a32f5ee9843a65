import type { Failure } from '../../../functions/domain/failure.ts'
import type { HostAnswer } from '../../harness/hosts/dialect.ts'
import { LITERAL, said } from '../../harness/hosts/github-literal.ts'
import { TOKEN } from '../port-stage.ts'

/** The time of the answers, by GitHub's clock. */
export const DATE = 'Sat, 21 Nov 2026 12:00:00 GMT'
const NOW = Date.parse(DATE) / 1000

/** An answer of GitHub, and what it means. */
export interface Refusal extends HostAnswer {
  readonly what: string
  readonly reason: Failure['reason']
  readonly says?: RegExp
  readonly hides?: RegExp
  /** Seconds until a retry is allowed. */
  readonly after?: number
}

const SIGN_ON =
  'Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization.'
const SIGN_ON_URL =
  'https://github.com/orgs/acme/sso?authorization_request=AZSCKtL4U8yX1H3sCQIVnVgmjmon5fWxks5YrqhJgah0b2tlbl9pZM4EuMz4'
const SIGN_ON_HEADERS = { 'x-github-sso': `required; url=${SIGN_ON_URL}` }

/** What GitHub refuses, in the words of its answers. */
export const REFUSALS: readonly Refusal[] = [
  { what: 'a bad token', ...LITERAL.unauthorised, reason: 'AuthenticationFailed' },
  {
    what: 'too many bad tokens',
    ...said(403, 'Maximum number of login attempts exceeded. Please try again later.'),
    reason: 'RateLimited',
    after: 60,
  },
  {
    what: 'a fine-grained token',
    ...LITERAL.missingScope,
    reason: 'PermissionDenied',
    says: /lacks "pull_requests=write,contents=read" /,
  },
  {
    what: 'an app that may not',
    ...said(403, 'Resource not accessible by integration'),
    reason: 'PermissionDenied',
    says: /lacks the scope/,
  },
  ...['secondary rate limit', 'abuse detection', 'login attempts exceeded'].map((words): Refusal => ({
    what: `a refusal that names what a user has called "${words}"`,
    ...said(403, `The rule "${words}" does not allow this.`),
    reason: 'PermissionDenied',
    says: /does not permit/,
  })),
  {
    what: 'a permission that cannot be shown',
    ...said(403, 'Resource not accessible by integration', { 'x-accepted-github-permissions': '<b>"' }),
    reason: 'PermissionDenied',
    says: /lacks the scope/,
    hides: /<b>/,
  },
  {
    what: 'permissions beside another refusal',
    ...said(403, 'Must have admin rights to Repository.', { 'x-accepted-github-permissions': 'issues=read' }),
    reason: 'PermissionDenied',
    hides: /issues=read/,
  },
  {
    what: 'a classic token without the scope',
    ...said(403, 'Forbidden', {
      'x-oauth-scopes': 'gist, user',
      'x-accepted-oauth-scopes': 'public_repo, repo',
    }),
    reason: 'PermissionDenied',
    says: /lacks "public_repo or repo" /,
  },
  {
    what: 'a classic token with the scope',
    ...said(403, 'Forbidden', {
      'x-oauth-scopes': 'gist, repo',
      'x-accepted-oauth-scopes': 'public_repo, repo',
    }),
    reason: 'PermissionDenied',
    says: /does not permit/,
  },
  {
    what: 'a classic token without any scope, to which the repository is invisible',
    ...said(404, 'Not Found', { 'x-oauth-scopes': '', 'x-accepted-oauth-scopes': 'repo' }),
    reason: 'RepositoryNotFound',
    says: /not visible.*lacks the required scope "repo"/,
  },
  {
    what: 'an invisible repository',
    ...said(404, 'Not Found', { 'x-oauth-scopes': 'repo', 'x-accepted-oauth-scopes': 'repo' }),
    reason: 'RepositoryNotFound',
    says: /not visible/,
    hides: /scope/,
  },
  {
    what: 'single sign-on',
    ...said(403, SIGN_ON, { ...SIGN_ON_HEADERS, 'x-ratelimit-remaining': '0' }),
    reason: 'PermissionDenied',
    says: /single sign-on at github\.com\/settings\/tokens/,
    hides: /authorization_request|AZSC/,
  },
  {
    what: 'single sign-on that hides the repository',
    ...said(404, 'Not Found', SIGN_ON_HEADERS),
    reason: 'PermissionDenied',
    says: /single sign-on/,
    hides: /authorization_request|AZSC/,
  },
  {
    what: 'an IP allow list',
    ...said(
      403,
      'Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list enabled, and your IP address is not permitted to access this resource.',
    ),
    reason: 'PermissionDenied',
    says: /IP allow list/,
  },
  {
    what: 'an archived repository',
    ...LITERAL.archived,
    reason: 'PermissionDenied',
    says: /is archived, so/,
  },
  {
    what: 'a blocked repository',
    ...said(403, 'Repository access blocked'),
    reason: 'PermissionDenied',
    says: /blocked or disabled/,
  },
  {
    what: 'a repository taken down',
    ...said(451, 'Repository access blocked'),
    reason: 'PermissionDenied',
    says: /451/,
  },
  { what: 'a refusal without a word', status: 403, body: '<html></html>', reason: 'PermissionDenied' },
  {
    what: 'something unprocessable',
    ...said(422, `${TOKEN} is odd`),
    reason: 'PullRequestRejected',
    hides: /good-token/,
  },
  { what: 'a request for later', ...said(503, 'Unicorn!'), reason: 'ProviderUnavailable' },
  {
    what: 'a web page',
    status: 200,
    body: '<!DOCTYPE html>',
    reason: 'ProviderUnavailable',
    says: /web page/,
  },
]

/** Too many requests, in each way that GitHub says so. */
export const LIMITS: readonly Refusal[] = [
  ...[403, 429].map((status): Refusal => ({
    what: `the hourly limit (${status})`,
    ...said(status, 'API rate limit exceeded for user ID 1.', {
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(NOW + 900),
    }),
    reason: 'RateLimited',
    after: 900,
  })),
  {
    what: 'a secondary limit, beside which the hourly one is not spent',
    ...said(
      403,
      'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
      {
        'x-ratelimit-remaining': '4999',
        'x-ratelimit-reset': String(NOW + 3000),
      },
    ),
    reason: 'RateLimited',
    after: 60,
  },
  {
    what: 'a secondary limit with a time',
    ...said(403, 'You have exceeded a secondary rate limit.', { 'retry-after': '120' }),
    reason: 'RateLimited',
    after: 120,
  },
  {
    what: 'a limit without words',
    status: 403,
    headers: { 'retry-after': '30' },
    body: '',
    reason: 'RateLimited',
    after: 30,
  },
  { what: '429 alone', status: 429, body: '', reason: 'RateLimited', after: 60 },
  {
    what: 'what an older server calls abuse',
    ...said(
      403,
      'You have triggered an abuse detection mechanism. Please wait a few minutes before you try again.',
    ),
    reason: 'RateLimited',
    after: 60,
  },
]
