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
