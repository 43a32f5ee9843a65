import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { readReview, reviewOf } from '../../../webhook/admission/review.ts'
import { gitCommit, reviewOf as sent } from '../stage.ts'

t.test('a review is read with everything that the decision needs', async (t) => {
  const userInfo = { username: 'developer', uid: 'u1', groups: ['a'], extra: { scope: ['b'] }, other: 1 }
  const { user, ...rest } = readReview(sent(gitCommit(), { userInfo, dryRun: true, subResource: 'status' }))
  t.strictSame(user, { username: 'developer', uid: 'u1', groups: ['a'], extra: { scope: ['b'] } })
  t.match(rest, {
    uid: 'review-1',
    kind: 'GitCommit',
    operation: 'CREATE',
    subResource: 'status',
    namespace: 'shop',
    name: 'settings',
    dryRun: true,
    object: gitCommit(),
    oldObject: null,
  })
})

t.test('missing members have their default', async (t) => {
  const request = {
    name: undefined,
    dryRun: undefined,
    object: undefined,
    operation: 'DELETE',
  }
  const userInfo = { username: 'developer', groups: [1], extra: { a: 'b' } }
  const review = readReview(sent(null, { ...request, userInfo }))
  t.match(review, {
    name: '',
    subResource: '',
    dryRun: false,
    object: null,
    user: { username: 'developer' },
  })
  t.strictSame(Object.keys(review.user), ['username'], 'what is not of its type is not taken over')
})

t.test('of a name that no object can have the beginning is read', async (t) => {
  t.equal(readReview(sent(gitCommit(), { name: 'x'.repeat(40_000) })).name, 'x'.repeat(253))
})

for (const [title, value, message] of [
  ['no object', 7, /AdmissionReview of admission.k8s.io\/v1/],
  ['v1beta1', { ...sent(null), apiVersion: 'admission.k8s.io/v1beta1' }, /admission.k8s.io\/v1\./],
  ['another kind', { ...sent(null), kind: 'Pod' }, /has to be an AdmissionReview/],
  ['no request', { ...sent(null), request: undefined }, /no request with a uid/],
  ['an empty uid', sent(null, { uid: '' }), /no request with a uid/],
  ['a uid that is too long to be repeated', sent(null, { uid: 'u'.repeat(129) }), /at most 128 characters/],
  [
    'another resource',
    sent(null, { kind: { group: '', version: 'v1', kind: 'Pod' } }),
    /GitCommit or PullRequest/,
  ],
  [
    'another version',
    sent(null, { kind: { group: 'commitlet.dev', version: 'v2', kind: 'GitCommit' } }),
    /v1/,
  ],
  ['an unknown operation', sent(null, { operation: 'PATCH' }), /CREATE, UPDATE, DELETE or CONNECT/],
  ['an object without metadata', sent({}), /object of the request/],
  ['an object with a list as metadata', sent({ metadata: [] }), /object of the request/],
  ['an old object that is text', sent(null, { oldObject: 'x' }), /oldObject of the request/],
  ['no namespace', sent(null, { namespace: undefined }), /has to name its namespace/],
  ['an empty namespace', sent(null, { namespace: '' }), /has to name its namespace/],
  ['a namespace that is a number', sent(null, { namespace: 7 }), /has to name its namespace/],
  ['no user', sent(null, { userInfo: undefined }), /userInfo.username/],
  ['a user that is text', sent(null, { userInfo: 'developer' }), /userInfo.username/],
  ['a user that is a list', sent(null, { userInfo: ['developer'] }), /userInfo.username/],
  ['a user name that is a list', sent(null, { userInfo: { username: ['a'] } }), /userInfo.username/],
  ['an empty user name', sent(null, { userInfo: { username: '' } }), /userInfo.username/],
  [
    'a user name that stands in a prototype',
    sent(null, { userInfo: JSON.parse('{"__proto__":{"username":"developer"}}') }),
    /userInfo.username/,
  ],
  ['a request that is a list', { ...sent(null), request: [] }, /no request with a uid/],
  ['a prototype that speaks', JSON.parse(`{"__proto__": ${JSON.stringify(sent(null))}}`), /AdmissionReview/],
] as const) {
  t.test(`a review is refused with ${title}`, async (t) => {
    t.throws(() => readReview(value), new Failure('InvalidSpec', ''))
    t.throws(() => readReview(value), { message })
  })
}

const V1 = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }

t.test('an answer echoes the uid and leaves out what is undefined', async (t) => {
  t.strictSame(reviewOf('u', {}), { ...V1, response: { uid: 'u', allowed: true } })
  t.strictSame(reviewOf('u', { warnings: [], patch: [] }), { ...V1, response: { uid: 'u', allowed: true } })
})

t.test('a patch is sent as base64 of JSON Patch', async (t) => {
  const patch = [{ op: 'remove', path: '/metadata/annotations/a' }] as const
  const encoded = Buffer.from(JSON.stringify(patch)).toString('base64')
  const response = { uid: 'u', allowed: true, patchType: 'JSONPatch', patch: encoded }
  t.strictSame(reviewOf('u', { patch }), { ...V1, response })
})

t.test('a denial carries a status and its warnings, and never a patch', async (t) => {
  const denial = {
    code: 422,
    reason: 'Invalid',
    message: 'spec.message has to be given.',
    details: { group: 'commitlet.dev', kind: 'GitCommit', name: 'a', causes: [] } as const,
  }
  const verdict = { denial, warnings: ['w'], patch: [{ op: 'remove', path: '/a' }] } as const
  const response = { uid: 'u', allowed: false, status: { status: 'Failure', ...denial }, warnings: ['w'] }
  t.strictSame(reviewOf('u', verdict), { ...V1, response })
})
