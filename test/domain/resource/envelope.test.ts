import t from 'tap'
import { envelopeOf, refOf } from '../../../functions/domain/resource/envelope.ts'

const METADATA = { namespace: 'team', name: 'shop', uid: 'u-1', generation: 2, resourceVersion: '7' }
const WHOLE = { kind: 'GitCommit', metadata: METADATA, spec: { repository: 5 }, status: { phase: 'Pending' } }

t.test('the envelope is all but the spec, which is not read', async (t) => {
  const { kind, metadata, status } = WHOLE
  t.strictSame(envelopeOf(WHOLE), { kind, metadata, status })
  t.strictSame(envelopeOf({ kind, metadata }), { kind, metadata })
  const large = { ...metadata, managedFields: [{ manager: 'kubectl' }], finalizers: ['a.example.com/b'] }
  t.strictSame(envelopeOf({ kind, metadata: large }), { kind, metadata }, 'nor is metadata that nobody reads')
  const { namespace, name, uid, generation } = METADATA
  t.strictSame(refOf(envelopeOf({ kind, metadata })), { kind, namespace, name, uid, generation })
})

t.test(
  'it was applied when somebody changed more than its status last, else when it was created',
  async (t) => {
    const metadata = { ...METADATA, creationTimestamp: '2026-03-01T10:00:00Z' }
    const of = (...managedFields: readonly unknown[]) =>
      envelopeOf({ ...WHOLE, metadata: { ...metadata, managedFields } }).appliedAt
    t.equal(of(), '2026-03-01T10:00:00Z')
    const status = { manager: 'commitlet', subresource: 'status', time: '2026-03-01T12:00:00Z' }
    const [kubectl, other] = ['2026-03-01T11:00:00Z', '2026-03-01T10:30:00Z'].map((time) => ({ time }))
    t.equal(of(kubectl, status, other), '2026-03-01T11:00:00Z')
    t.equal(of(status, { manager: 'old' }, 7), '2026-03-01T10:00:00Z')
  },
)

for (const [title, whole] of [
  ['nothing', undefined],
  ['another kind', { ...WHOLE, kind: 'ConfigMap' }],
  ['a kind of the prototype', { ...WHOLE, kind: 'constructor' }],
  ['no metadata', { kind: 'GitCommit' }],
  ['no generation', { ...WHOLE, metadata: { ...METADATA, generation: undefined } }],
  ['no uid', { ...WHOLE, metadata: { ...METADATA, uid: undefined } }],
] as const) {
  t.test(`${title} is no resource`, async (t) => {
    t.throws(() => envelopeOf(whole), {
      name: 'Failure',
      reason: 'Internal',
      message: /not a resource of Commitlet/,
    })
  })
}
