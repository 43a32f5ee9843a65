import t from 'tap'
import { githubFailure, openingFailure } from '../../../functions/providers/github/errors.ts'
import { said } from '../../harness/hosts/github-literal.ts'
import { unprocessable } from '../../harness/hosts/github-opening.ts'
import type { HostAnswer } from '../../harness/hosts/dialect.ts'
import { DATE, LIMITS, REFUSALS } from './refusals.ts'
import { BRANCHES, TOKEN } from '../port-stage.ts'

const SPEECH = {
  shown: 'https://github.com/acme/shop.git',
  secrets: [TOKEN],
  baseURL: 'https://api.github.com',
}
for (const { what, reason, says = /./, hides = /(?!)/, after, ...answer } of [...REFUSALS, ...LIMITS]) {
  t.test(`${what} is ${reason}`, async (t) => {
    const failure = githubFailure(answerOf(answer), SPEECH)
    t.match(failure, { reason, message: says, retryAfterSeconds: after })
    t.notMatch(failure.message, hides)
  })
}

const custom = (message: string): object => ({ resource: 'PullRequest', code: 'custom', message })
const field = (name: string, code: string): object => ({ resource: 'PullRequest', field: name, code })

const OPENINGS: readonly (readonly [string, readonly object[], object | 'exists'])[] = [
  ['one that is open', [custom('A pull request already exists for acme:settings.')], 'exists'],
  ['no head', [field('head', 'invalid')], { reason: 'HeadNotFound', message: /the branch settings / }],
  ['no base', [field('base', 'invalid')], { reason: 'HeadNotFound', message: /the branch main / }],
  [
    'neither',
    [field('base', 'invalid'), field('head', 'invalid')],
    { reason: 'HeadNotFound', message: /settings or main/ },
  ],
  [
    'an empty repository',
    [
      field('head_sha', 'missing_field'),
      field('base_sha', 'missing_field'),
      custom('No commits between a and b'),
    ],
    { reason: 'HeadNotFound' },
  ],
  ['nothing new', [custom('No commits between main and settings')], { reason: 'NothingToMerge' }],
  [
    'a token that may not read the branches',
    [custom('not all refs are readable')],
    { reason: 'PermissionDenied', message: /permission to read contents/ },
  ],
  [
    'a title that is too long',
    [custom('title is too long (maximum is 256 characters)')],
    { reason: 'PullRequestRejected', message: /"title is too long \(maximum is 256 characters\)"/ },
  ],
  [
    'creations that come too fast',
    [custom('was submitted too quickly')],
    { reason: 'RateLimited', retryAfterSeconds: 60 },
  ],
  [
    'a title that speaks of limits',
    [custom('title "API rate limit exceeded" is taken')],
    { reason: 'PullRequestRejected' },
  ],
  ['an odd body', [field('body', 'invalid')], { reason: 'PullRequestRejected', message: /"body invalid"/ }],
]

for (const [what, errors, expected] of OPENINGS) {
  t.test(`opening meets ${what}`, async (t) => {
    t.match(openingFailure(answerOf(unprocessable(errors)), BRANCHES, SPEECH), expected)
  })
}

t.test(
  'the branch of a fork is named with its owner, and a refused draft with the words for it',
  async (t) => {
    const fork = { ...BRANCHES, headOwner: 'dev' }
    const missing = openingFailure(answerOf(unprocessable([field('head', 'invalid')])), fork, SPEECH)
    t.match(missing, { reason: 'HeadNotFound', message: /the branch dev:settings / })
    const words = 'Draft pull requests are not supported in this repository.'
    const refused = openingFailure(answerOf(said(422, words)), BRANCHES, SPEECH)
    t.match(refused, { reason: 'PullRequestRejected', message: words })
    const exists = { errors: [custom('A pull request already exists for acme:settings.')] }
    t.not(openingFailure(answerOf({ status: 403, body: exists }), BRANCHES, SPEECH), 'exists', 'it takes 422')
  },
)

for (const { baseURL, settings, asked } of [
  {
    baseURL: 'https://api.github.com',
    settings: 'at github.com/settings/tokens',
    asked: /ask GitHub for the reason/,
  },
  {
    baseURL: 'https://api.acme.ghe.com',
    settings: 'at acme.ghe.com/settings/tokens',
    asked: /ask GitHub for the reason/,
  },
  {
    baseURL: 'https://git.example.com/api/v3',
    settings: 'at git.example.com/settings/tokens',
    asked: /^The GitHub Enterprise Server has blocked .* ask the administrator of that server for the reason/,
  },
]) {
  t.test(`the sentence says whom to ask for ${baseURL}`, async (t) => {
    const context = { ...SPEECH, baseURL }
    const signOn = said(403, 'Resource protected by organization SAML enforcement.', {
      'x-github-sso': 'required; url=https://github.com/orgs/acme/sso',
    })
    t.match(githubFailure(answerOf(signOn), context), { reason: 'PermissionDenied', message: settings })
    for (const status of [403, 451]) {
      const blocked = githubFailure(answerOf(said(status, 'Repository access blocked')), context)
      t.match(blocked, { reason: 'PermissionDenied', message: asked })
    }
  })
}

function answerOf({ status, headers = {}, body }: HostAnswer): Parameters<typeof githubFailure>[0] {
  return { status, headers: new Headers({ date: DATE, ...headers }), data: body }
}

t.test('a token in place of the scope is masked in a 404 as well', async (t) => {
  const token = 'lowercase_token'
  const headers = { 'x-oauth-scopes': '', 'x-accepted-oauth-scopes': token }
  const failure = githubFailure(answerOf(said(404, 'Not Found', headers)), { ...SPEECH, secrets: [token] })
  t.match(failure, { reason: 'RepositoryNotFound', message: /lacks the required scope "\*\*\*"/ })
})
