import t from 'tap'
import { envelopeOf, refOf } from '../../../functions/domain/resource/envelope.ts'
import { repositoryHost } from '../../../functions/domain/repository/address.ts'

const METADATA = { namespace: 'team', name: 'shop', uid: 'u-1', generation: 2, resourceVersion: '7' }
const WHOLE = { kind: 'GitCommit', metadata: METADATA, spec: { repository: 5 }, status: { phase: 'Pending' } }

t.test('the envelope is all but the spec, which nobody looks at', async (t) => {
  const { kind, metadata, status } = WHOLE
  t.strictSame(envelopeOf(WHOLE), { kind, metadata, status })
  t.strictSame(envelopeOf({ kind, metadata }), { kind, metadata })
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
      message: /no resource of Commitlet/,
    })
  })
}

for (const [repository, host] of [
  ['https://git.example.com/acme/shop.git', 'git.example.com'],
  ['https://git.example.com:8443/acme/shop', 'git.example.com'],
  ['https://[2001:db8::1]/acme/shop.git', '2001:db8::1'],
  ['https://[2001:db8::2]:8443/acme/shop.git', '2001:db8::2'],
  ['ssh://git@git.example.com:2222/acme/shop.git', 'git.example.com'],
  ['git@git.example.com:acme/shop.git', 'git.example.com'],
  ['https://token@git.example.com/acme/shop.git', ''],
  ['no address', ''],
  [5, ''],
  [undefined, ''],
] as const) {
  t.test(`turns at ${String(repository)} are counted for "${host}"`, async (t) => {
    t.equal(repositoryHost({ spec: { repository } }), host)
  })
}

t.test('turns without a spec are counted for no host', async (t) => {
  for (const whole of [undefined, {}, { spec: null }, { spec: [] }]) t.equal(repositoryHost(whole), '')
})
