import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { commitBody } from '../../../functions/providers/github/commit-body.ts'
import { makeCommit } from '../../../functions/providers/github/commit.ts'
import type { Fetch, FetchInit } from '../../../functions/domain/pull-request/pull-requests.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import type { HostAnswer } from '../../harness/hosts/dialect.ts'
import { failed } from '../../harness/hosts/github-commit.ts'
import fc from '../../harness/fast-check.ts'
import { LITERAL, said } from '../../harness/hosts/github-literal.ts'
import { atOnce } from '../../../functions/http/share.ts'

const SHA = 'c'.repeat(40)
const TOKEN = 'd'.repeat(40)
const FILES = [{ path: 'a.md', content: Buffer.from('ä') }, { path: 'b.md' }]
const COMMIT = { branch: 'main', tip: 'a'.repeat(40), message: 'One\n\nTwo\nThree\n', files: FILES }

function textOf(body: FetchInit['body']): string {
  return typeof body === 'object' ? Buffer.concat([...body.pieces()]).toString() : (body ?? '')
}

async function commitAt(baseURL: string, answer: HostAnswer | Failure) {
  const asked: [string, unknown][] = []
  const fetch: Fetch = (url, { body }) => {
    asked.push([url, JSON.parse(textOf(body))])
    if (answer instanceof Failure) return Promise.reject(answer)
    const { status, headers = {} } = answer
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)
    return Promise.resolve(new Response(text, { status, headers }))
  }
  const place = {
    baseURL,
    repository: ['acme', 'shop'],
    shown: 'https://example.com/acme/shop',
    fetch,
    share: atOnce,
  }
  const made = await makeCommit({ ...place, token: TOKEN, secrets: [TOKEN] }, COMMIT).catch(
    (error: unknown) => {
      if (error instanceof Failure) return error
      throw error
    },
  )
  return { made, asked }
}

const oid = (sha: string): HostAnswer => ({
  status: 200,
  body: { data: { createCommitOnBranch: { commit: { oid: sha } } } },
})

t.test('the mutation has what the API takes, at the address of the host', async (t) => {
  const { made, asked } = await commitAt('https://api.github.com', oid(SHA))
  t.strictSame(made, { kind: 'landed', sha: SHA })
  t.match(asked, [['https://api.github.com/graphql', { query: /^mutation/ }]])
  const [[, body] = []] = asked
  t.strictSame((body as { readonly variables: unknown }).variables, {
    input: {
      branch: { repositoryNameWithOwner: 'acme/shop', branchName: 'main' },
      expectedHeadOid: COMMIT.tip,
      message: { headline: 'One', body: 'Two\nThree\n' },
      fileChanges: { additions: [{ path: 'a.md', contents: 'w6Q=' }], deletions: [{ path: 'b.md' }] },
    },
  })
  const server = await commitAt('https://github.example.com/api/v3', oid(SHA))
  t.equal(server.asked[0]?.[0], 'https://github.example.com/api/graphql')
})

t.test('the request is made in pieces of 64 KiB at most, whatever the files have', (t) => {
  const contents = fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc.integer({ min: 49_150, max: 98_310 }).map((length) => randomBytes(length)),
  )
  const files = fc.array(fc.tuple(fc.string({ unit: 'binary' }), fc.option(contents, { nil: undefined })), {
    maxLength: 4,
  })
  fc.assert(
    fc.property(files, (written) => {
      const files = written.map(([path, content]) => ({ path, content }))
      const { bytes, pieces } = commitBody({ ...COMMIT, files }, ['acme', 'shop'])
      const sent = [...pieces()]
      const { fileChanges } = JSON.parse(Buffer.concat(sent).toString()).variables.input
      const added = files.flatMap(({ path, content }) =>
        content === undefined ? [] : [{ path, contents: Buffer.from(content).toString('base64') }],
      )
      const removed = files.flatMap(({ path, content }) => (content === undefined ? [{ path }] : []))
      assert.deepEqual(fileChanges, { deletions: removed, additions: added })
      assert.equal(bytes, Buffer.concat(sent).length)
      assert.ok(sent.every(({ length }) => length <= 64 * 1024))
    }),
    { numRuns: 50 },
  )
  t.end()
})

const errors = (type: string | undefined, words: string): HostAnswer => failed(type, words)
const limits = (remaining: string): Record<string, string> => ({
  date: 'Sun, 01 Mar 2026 10:00:00 GMT',
  'x-ratelimit-remaining': remaining,
  'x-ratelimit-reset': String(Date.parse('2026-03-01T10:30:00Z') / 1000),
})
/** What is found before anything is carried out has no type, and there are no data. */
const invalid = (message: string, extensions: object): HostAnswer => ({
  status: 200,
  body: { errors: [{ path: ['mutation', 'createCommitOnBranch'], extensions, message }] },
})
const ENDINGS: readonly (readonly [string, HostAnswer | Failure, object])[] = [
  [
    'the branch has moved',
    errors('STALE_DATA', 'Expected branch to point to "x" but it did not.'),
    { kind: 'race' },
  ],
  ['the branch is gone', errors('NOT_FOUND', 'No ref named main'), { kind: 'race' }],
  ['the branch is not found', errors('NOT_FOUND', 'Branch not found'), { kind: 'race' }],
  [
    'a commit that was made but may not be read',
    {
      status: 200,
      body: {
        data: { createCommitOnBranch: { commit: null } },
        errors: [
          { type: 'FORBIDDEN', path: ['createCommitOnBranch', 'commit'], message: 'Resource not accessible' },
        ],
      },
    },
    { kind: 'lost', failure: { reason: 'ProviderUnavailable' } },
  ],
  ['an outage', said(502, 'Bad gateway'), { kind: 'lost', failure: { reason: 'ProviderUnavailable' } }],
  [
    'a query that took too long',
    errors(undefined, 'Something went wrong while executing your query.'),
    { kind: 'lost', failure: { reason: 'ProviderUnavailable' } },
  ],
  ['no answer', new Failure('Timeout', 'Late.'), { kind: 'lost', failure: { reason: 'Timeout' } }],
  [
    'a web page',
    { status: 200, body: '<html>' },
    { kind: 'lost', failure: { reason: 'ProviderUnavailable' } },
  ],
  ['the token in place of a name', oid(TOKEN), { kind: 'lost', failure: { reason: 'ProviderUnavailable' } }],
  ['an untrusted certificate', new Failure('TLSUntrusted', 'No.'), { reason: 'TLSUntrusted' }],
  ['a bad token', LITERAL.unauthorised, { reason: 'AuthenticationFailed' }],
  ['a limit', LITERAL.rateLimited(60), { reason: 'RateLimited', retryAfterSeconds: 60 }],
  [
    'a limit of GraphQL',
    { ...errors('RATE_LIMITED', 'API rate limit exceeded'), headers: limits('0') },
    { reason: 'RateLimited', retryAfterSeconds: 1800 },
  ],
  [
    'a secondary limit of GraphQL',
    { ...errors('RATE_LIMITED', 'You have exceeded a secondary rate limit.'), headers: limits('4000') },
    { reason: 'RateLimited', retryAfterSeconds: 60 },
  ],
  [
    'a secondary limit without a type',
    { ...errors(undefined, 'You have exceeded a secondary rate limit.'), headers: { 'retry-after': '30' } },
    { reason: 'RateLimited', retryAfterSeconds: 30 },
  ],
  [
    'a secondary limit in a message',
    said(200, 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.'),
    { reason: 'RateLimited', retryAfterSeconds: 60 },
  ],
  [
    'a limit of content',
    errors('UNPROCESSABLE', 'was submitted too quickly'),
    { reason: 'RateLimited', retryAfterSeconds: 60 },
  ],
  ...['secondary rate limit', 'API rate limit exceeded', 'abuse detection', 'was submitted too quickly'].map(
    (words) =>
      [
        `a rule that its user has called "${words}"`,
        errors(
          'UNPROCESSABLE',
          `Repository rule violations found\n\nRequired status check "${words}" is expected.\n\n`,
        ),
        { reason: 'PushRejected' },
      ] as const,
  ),
  [
    'words of a user that are like a limit',
    errors(undefined, 'The path "You have exceeded a secondary rate limit" is restricted'),
    { kind: 'lost', failure: { reason: 'ProviderUnavailable' } },
  ],
  [
    'a limit of GraphQL by its newer name',
    errors('RATE_LIMIT', 'API rate limit already exceeded for user ID 1.'),
    { reason: 'RateLimited', retryAfterSeconds: 60 },
  ],
  [
    'an App without the right',
    errors('FORBIDDEN', 'Resource not accessible by integration'),
    {
      reason: 'PermissionDenied',
      message: /does not permit this commit: "Resource not.*write access to contents/,
    },
  ],
  [
    'a token without the right',
    LITERAL.missingScope,
    { reason: 'PermissionDenied', message: /this commit: "Resource/ },
  ],
  [
    'single sign-on',
    said(403, 'Resource protected by organization SAML enforcement.', { 'x-github-sso': 'required; url=x' }),
    { reason: 'PermissionDenied', message: /single sign-on/ },
  ],
  [
    'single sign-on, as GraphQL says it',
    {
      status: 200,
      body: {
        data: { createCommitOnBranch: null },
        errors: [
          {
            type: 'FORBIDDEN',
            extensions: { saml_failure: true },
            message: 'Resource protected by organization SAML enforcement.',
          },
        ],
      },
    },
    { reason: 'PermissionDenied', message: /requires single sign-on.*settings\/tokens/ },
  ],
  [
    'a protected branch that is forbidden',
    errors('FORBIDDEN', "You're not authorized to push to this branch"),
    {
      reason: 'PushRejected',
      retry: 'never',
      message: /"You're not authorized to push to this branch"; fix what it names/,
    },
  ],
  [
    'a repository that is full, which others may change',
    errors('UNPROCESSABLE', 'The repository is over its disk quota.'),
    { reason: 'PushRejected', retry: 'slow', message: /over its disk quota/ },
  ],
  [
    'another repository',
    errors('NOT_FOUND', 'Could not resolve to a Repository'),
    { reason: 'RepositoryNotFound' },
  ],
  [
    'rules of the branch',
    errors('UNPROCESSABLE', `Changes must be made through a pull request. ${TOKEN}`),
    {
      reason: 'PushRejected',
      message: /refuses the commit by its API: "Changes must be .*"; fix what it names/,
    },
  ],
  [
    'a server that does not know the mutation',
    invalid("Field 'createCommitOnBranch' doesn't exist on type 'Mutation'", { code: 'undefinedField' }),
    { reason: 'PushRejected', message: /"Field 'createCommitOnBranch' doesn't exist/ },
  ],
  [
    'a variable that is refused',
    invalid('Variable $input of type CreateCommitOnBranchInput! was provided invalid value', {
      value: { message: { headline: TOKEN } },
      problems: [{ path: ['expectedHeadOid'], explanation: 'Expected value to not be null' }],
    }),
    { reason: 'PushRejected', message: /"Variable \$input/ },
  ],
  [
    'a commit that is too large',
    { status: 413, body: '<html><body>Request Entity Too Large</body></html>' },
    { reason: 'PushRejected', message: /takes no commit of this size \(413\); write fewer or smaller files/ },
  ],
  [
    'a refusal without words',
    { status: 400, body: '' },
    { reason: 'PushRejected', message: /refuses the commit by its API \(400\) without a reason/ },
  ],
  [
    'an input that is refused',
    said(422, 'Problems parsing JSON'),
    { reason: 'PushRejected', message: /"Problems/ },
  ],
]

for (const [what, answer, expected] of ENDINGS)
  t.test(`${what} is told apart`, async (t) => {
    const { made } = await commitAt('https://api.github.com', answer)
    t.match(made, expected)
    t.notOk(JSON.stringify([made, made instanceof Error ? made.message : '']).includes(TOKEN))
  })

t.test('a status that says nothing of the commit is no refusal, and it may have been made', async (t) => {
  for (const status of [405, 406, 411, 412, 415, 418, 421, 425, 426, 428, 431, 444, 499]) {
    const answer = { status, body: '<html><body>Not for you</body></html>' }
    const { made } = await commitAt('https://api.github.com', answer)
    t.match(made, { kind: 'lost', failure: { reason: 'PushRejected', retry: 'slow' } }, String(status))
  }
})
