import t from 'tap'
import { bodyOf, refusal } from '../../../functions/cluster/calls/answer.ts'

const WHAT = 'ConfigMap shop/settings'

const REFUSALS = [
  [
    401,
    'ReferenceForbidden',
    'slow',
    /^The API server does not accept Commitlet's own credentials, so .*could not be read; ask/,
  ],
  [
    403,
    'ReferenceForbidden',
    'slow',
    /^Commitlet's service account may not read .*ask your Commitlet operator to grant it `get`\.$/,
  ],
  [
    404,
    'ReferenceNotFound',
    'reference',
    /^There is no ConfigMap shop\/settings; create it, or fix its name in the spec\.$/,
  ],
  [
    429,
    'RateLimited',
    'transient',
    /^The API server is too busy to answer for .*; Commitlet retries automatically\.$/,
  ],
  [
    422,
    'ProviderUnavailable',
    'transient',
    /^The API server answered 422 for .*; Commitlet retries automatically\.$/,
  ],
  [
    503,
    'ProviderUnavailable',
    'transient',
    /^The API server answered 503 for .*; Commitlet retries automatically\.$/,
  ],
] as const

t.test('a refusal names what was asked for, and whether a retry helps', async (t) => {
  for (const [status, reason, retry, sentence] of REFUSALS) {
    const failure = refusal({ status, text: '{"message":"words of the server"}' }, WHAT)
    t.match({ reason: failure.reason, retry: failure.retry }, { reason, retry }, String(status))
    t.equal(failure.accountRefused, reason === 'ReferenceForbidden', 'it is the account that was refused')
    t.match(failure.message, sentence)
    t.match(failure.message, WHAT)
    t.notMatch(failure.message, /words of the server/)
  }
})

t.test('a name that may be mistyped is mentioned before the right that may be lacking', async (t) => {
  const { message } = refusal({ status: 403, text: '' }, 'Secret shop/gti', 'secretName in the spec')
  t.equal(
    message,
    "Commitlet's service account may not read Secret shop/gti; fix secretName in the spec if it is mistyped, otherwise ask your Commitlet operator to grant it `get`.",
  )
})

t.test('an answer with 2xx is read as JSON', async (t) => {
  t.same(bodyOf({ status: 200, text: '{"a":1}' }, WHAT), { a: 1 })
  t.same(bodyOf({ status: 201, text: '[]' }, WHAT), [])
})

t.test('every other answer, and one that is not JSON, is a Failure', async (t) => {
  const thrown = { name: 'Failure', reason: 'ProviderUnavailable' }
  t.throws(() => bodyOf({ status: 199, text: '{}' }, WHAT), thrown)
  t.throws(() => bodyOf({ status: 300, text: '{}' }, WHAT), thrown)
  for (const text of ['', '<html>', '{"a":']) {
    t.throws(() => bodyOf({ status: 200, text }, WHAT), {
      ...thrown,
      message: /is not JSON; Commitlet retries automatically\.$/,
    })
  }
})
