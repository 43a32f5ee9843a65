import { createHmac, createSecretKey } from 'node:crypto'
import fc from '../../harness/fast-check.ts'
import t from 'tap'
import type { Signed } from '../../../functions/domain/requester/signature.ts'
import { SHORTEST_KEY, sign, verifies } from '../../../functions/domain/requester/signature.ts'

const KEY = createSecretKey(Buffer.alloc(48, 7))
const SIGNED: Signed = {
  namespace: 'shop',
  kind: 'GitCommit',
  spec: {
    repository: 'https://git.example.com/acme/shop.git',
    message: 'x',
    resourceRef: { name: 'a', path: 'b' },
  },
  requestedAt: '2026-03-01T10:00:00Z',
  requestedBy: 'developer',
  requester: '{"username":"developer"}',
}
const SIGNATURE = sign(SIGNED, KEY)

t.test('a signature is the HMAC-SHA256 of purpose and canonical JSON, in hex', async (t) => {
  const text =
    'commitlet.dev/v1 requester-signature\n{"kind":"GitCommit","namespace":"shop",' +
    '"requestedAt":"2026-03-01T10:00:00Z","requestedBy":"developer","requester":"{\\"username\\":\\"developer\\"}",' +
    '"spec":{"message":"x","repository":"https://git.example.com/acme/shop.git","resourceRef":{"name":"a","path":"b"}}}'
  t.equal(SIGNATURE, createHmac('sha256', KEY).update(text).digest('hex'))
  t.match(SIGNATURE, /^[0-9a-f]{64}$/)
  t.equal(SHORTEST_KEY, 32)
})

t.test('the same in another order of members fits', async (t) => {
  const spec = {
    resourceRef: { path: 'b', name: 'a' },
    message: 'x',
    repository: 'https://git.example.com/acme/shop.git',
  }
  t.ok(verifies({ ...SIGNED, spec }, SIGNATURE, KEY))
})

for (const [title, change] of [
  ['another namespace', { namespace: 'other' }],
  ['another kind', { kind: 'PullRequest' }],
  ['another spec', { spec: { message: 'y' } }],
  ['no spec', { spec: undefined }],
  ['a spec of null', { spec: null }],
  ['another requested-at', { requestedAt: '2026-03-01T10:00:01Z' }],
  ['no requested-at', { requestedAt: undefined }],
  ['an empty requested-at', { requestedAt: '' }],
  ['another name for people', { requestedBy: 'admin' }],
  ['another requester', { requester: '{"username":"admin"}' }],
  ['a requester with one more blank', { requester: '{"username": "developer"}' }],
  ['no requester', { requester: undefined }],
] as const) {
  t.test(`${title} does not fit`, async (t) => t.notOk(verifies({ ...SIGNED, ...change }, SIGNATURE, KEY)))
}

t.test('absent and empty differ, and no member is taken for another', async (t) => {
  const bare = {
    namespace: '',
    kind: '',
    spec: {},
    requestedAt: undefined,
    requestedBy: undefined,
    requester: undefined,
  }
  const signatures = [
    bare,
    { ...bare, requestedAt: '' },
    { ...bare, requestedBy: '' },
    { ...bare, requester: '' },
    { ...bare, namespace: 'a' },
    { ...bare, kind: 'a' },
    { ...bare, requestedAt: 'a' },
    { ...bare, requestedBy: 'a' },
    { ...bare, requester: 'a' },
    { ...bare, spec: { a: null } },
    { ...bare, spec: [] },
  ].map((signed) => sign(signed, KEY))
  t.equal(new Set(signatures).size, signatures.length)
})

t.test('any change of the spec needs another signature', async (t) => {
  const property = fc.property(fc.jsonValue(), fc.jsonValue(), (spec, other) => {
    const signature = sign({ ...SIGNED, spec }, KEY)
    const same = sign({ ...SIGNED, spec: other }, KEY) === signature
    return (
      verifies({ ...SIGNED, spec }, signature, KEY) &&
      verifies({ ...SIGNED, spec: other }, signature, KEY) === same
    )
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 200 }))
})

for (const [title, signature] of [
  ['none', undefined],
  ['an empty one', ''],
  ['a shorter one', SIGNATURE.slice(1)],
  ['a longer one', `${SIGNATURE}0`],
  ['one in capitals', SIGNATURE.toUpperCase()],
  ['one of as many other characters', 'é'.repeat(32)],
  ['one of another key', sign(SIGNED, createSecretKey(Buffer.alloc(48, 8)))],
  ['one without the purpose', createHmac('sha256', KEY).update(JSON.stringify(SIGNED)).digest('hex')],
] as const) {
  t.test(`a signature does not fit: ${title}`, async (t) => t.equal(verifies(SIGNED, signature, KEY), false))
}
