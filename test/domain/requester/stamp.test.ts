import { createSecretKey } from 'node:crypto'
import t from 'tap'
import type { Stamping } from '../../../functions/domain/requester/stamp.ts'
import {
  isNewRequest,
  onlyRaisesGeneration,
  changesStamp,
  changesSuspend,
  overwrittenIn,
  signedOf,
  stampBytes,
  stampFor,
  stampOf,
} from '../../../functions/domain/requester/stamp.ts'
import { verifies } from '../../../functions/domain/requester/signature.ts'
import type { UserInfo } from '../../../functions/domain/requester/user-info.ts'

const BY = 'commitlet.dev/requested-by'
const REQUESTER = 'commitlet.dev/requester'
const SIGNATURE = 'commitlet.dev/requester-signature'
const AT = 'commitlet.dev/requested-at'
const GENERATION = 'commitlet.dev/request-generation'

const DEVELOPER: UserInfo = {
  username: 'developer',
  uid: 'u-1',
  groups: ['developers', 'system:authenticated'],
  extra: { 'scopes.authorization.openshift.io': ['user:full'], 'cloud.example.com/token': ['s3cret'] },
}
const DEVELOPER_JSON =
  '{"username":"developer","uid":"u-1","groups":["developers","system:authenticated"],' +
  '"extra":{"scopes.authorization.openshift.io":["user:full"]},"generation":1}'
const STAMPING: Stamping = {
  user: DEVELOPER,
  extraKeys: ['scopes.authorization.openshift.io'],
  delegation: { appliers: ['flux'], account: 'commitlet' },
  now: new Date('2026-03-01T10:00:00Z'),
  key: undefined,
}
const KEY = createSecretKey(Buffer.alloc(32, 1))
const OLD_STAMP = { [BY]: 'ops', [REQUESTER]: '{"username":"ops"}', [SIGNATURE]: 'old' }

type Annotations = Readonly<Record<string, unknown>> | null | undefined

function resource(annotations: Annotations, message: unknown = 'x') {
  return { kind: 'GitCommit', metadata: { name: 'settings', annotations }, spec: { message } }
}

/** A CREATE where `before` is undefined, else an UPDATE, in the namespace `shop`. */
function applied(before: unknown, after: unknown) {
  return { before, after, namespace: 'shop' }
}

for (const [title, before, after, isNew] of [
  ['a new resource is a request', undefined, resource(undefined), true],
  ['a changed spec is a request', resource(undefined), resource(undefined, 'y'), true],
  ['a spec with another type of one value is a request', resource(null, '1'), resource(null, 1), true],
  ['a new requested-at is a request', resource({ [AT]: '1' }), resource({ [AT]: '2' }), true],
  ['a removed requested-at is a request', resource({ [AT]: '1' }), resource(undefined), true],
  [
    'an empty requested-at counts as none, and is no request',
    resource(undefined),
    resource({ [AT]: '' }),
    false,
  ],
  ['a label is no request', resource({ a: 'b' }), resource({ a: 'c' }), false],
  ['a stamp is no request', resource(OLD_STAMP), resource({ [BY]: 'forged' }), false],
] as const) {
  t.test(title, async (t) => t.equal(isNewRequest(applied(before, after)), isNew))
}

t.test('a changed or removed stamp is noticed', async (t) => {
  const before = resource(OLD_STAMP)
  t.equal(changesStamp(applied(before, resource({ ...OLD_STAMP, a: 'b' }))), false)
  for (const key of [BY, REQUESTER, SIGNATURE]) {
    t.equal(changesStamp(applied(before, resource({ ...OLD_STAMP, [key]: 'forged' }))), true, key)
    t.equal(changesStamp(applied(resource(null), resource({ [key]: 'forged' }))), true, key)
  }
  t.equal(changesStamp(applied(before, resource({ [BY]: 'ops' }))), true)
  t.equal(changesStamp(applied(before, resource(null))), true)
  t.equal(changesStamp(applied(resource(null), resource({ [BY]: '' }))), false, 'an empty one is none')
})

t.test('what the sender wrote into the stamp is distinguished from the old and the new stamp', async (t) => {
  const wanted = stampOf(resource({ [BY]: 'developer', [REQUESTER]: '{}' }))
  const before = resource(OLD_STAMP)
  t.same(overwrittenIn(applied(before, resource({ ...OLD_STAMP, [BY]: 'forged' })), wanted), [BY])
  t.same(overwrittenIn(applied(before, resource({ ...OLD_STAMP, [BY]: 'developer' })), wanted), [])
  t.same(overwrittenIn(applied(before, resource({ [BY]: 'ops', [SIGNATURE]: 'old' })), wanted), [REQUESTER])
  t.same(overwrittenIn(applied(before, resource(undefined)), wanted), [])
  t.same(overwrittenIn(applied(undefined, resource(OLD_STAMP)), wanted), [BY, REQUESTER, SIGNATURE])
})

t.test('a stamp is measured in bytes, names of the annotations included', async (t) => {
  const stamp = stampOf(resource({ [BY]: 'é', [REQUESTER]: '{}' }))
  t.equal(stampBytes(stamp), `${BY}${REQUESTER}${SIGNATURE}${GENERATION}`.length + 4)
})

t.test('the sender is stamped, whatever was sent, with only the configured keys of extra', async (t) => {
  const application = applied(undefined, resource({ ...OLD_STAMP, [REQUESTER]: '{}' }))
  t.strictSame(stampFor(application, STAMPING), {
    [BY]: 'developer',
    [REQUESTER]: DEVELOPER_JSON,
    [SIGNATURE]: undefined,
    [GENERATION]: undefined,
  })
  t.notMatch(JSON.stringify(stampFor(application, STAMPING)), 's3cret')
  t.match(stampFor(application, { ...STAMPING, extraKeys: [] }), {
    [REQUESTER]: /"groups":\[[^\]]*\],"generation":1\}$/,
  })
})

t.test('a user without uid, groups and extra is stamped by name', async (t) => {
  const stamping = { ...STAMPING, user: { username: 'devel\noper' } }
  t.match(stampFor(applied(undefined, resource(null)), stamping), {
    [BY]: 'devel?oper',
    [REQUESTER]: '{"username":"devel\\noper","generation":1}',
  })
})

t.test('an extra key of the prototype is not read', async (t) => {
  const user = { username: 'developer', extra: {} }
  const stamp = stampFor(applied(undefined, resource(null)), {
    ...STAMPING,
    user,
    extraKeys: ['toString', '__proto__'],
  })
  t.equal(stamp[REQUESTER], '{"username":"developer","generation":1}')
})

t.test(
  'a delegated applier is stamped with the account that they count as, and keeps their own name',
  async (t) => {
    const stamping = { ...STAMPING, user: { username: 'flux', groups: ['system:masters'] } }
    t.match(stampFor(applied(undefined, resource(null)), stamping), {
      [BY]: 'flux as system:serviceaccount:shop:commitlet',
      [REQUESTER]:
        '{"username":"flux","groups":["system:masters"],"as":"system:serviceaccount:shop:commitlet","generation":1}',
    })
  },
)

t.test(
  'without a new request the old stamp stays, with its signature, whichever user updates the rest',
  async (t) => {
    const signing = { ...STAMPING, key: createSecretKey(Buffer.alloc(32, 1)) }
    const before = resource(OLD_STAMP)
    t.strictSame(stampFor(applied(before, resource({ [BY]: 'forged' })), signing), {
      ...OLD_STAMP,
      [GENERATION]: undefined,
    })
    const nothing = {
      ...{ [BY]: undefined, [REQUESTER]: undefined },
      ...{ [SIGNATURE]: undefined, [GENERATION]: undefined },
    }
    t.strictSame(stampFor(applied(resource(null), resource(OLD_STAMP)), signing), nothing)
  },
)

t.test('with a key the stamp is signed for the new request, not for what was there', async (t) => {
  const key = createSecretKey(Buffer.alloc(32, 1))
  const after = { ...resource({ ...OLD_STAMP, [AT]: 'now' }, 'new'), status: { phase: 'Pending' } }
  const stamp = stampFor(applied(resource(OLD_STAMP, 'old'), after), { ...STAMPING, key })
  const signed = {
    namespace: 'shop',
    kind: 'GitCommit',
    spec: { message: 'new' },
    requestedAt: 'now',
    requestedBy: 'developer',
    requester: DEVELOPER_JSON.replace(',"generation":1', ''),
  }
  t.ok(verifies(signed, stamp[SIGNATURE], key))
  const stored = resource({ ...stamp, [AT]: 'now' }, 'new')
  t.strictSame(signedOf(stored, 'shop', stampOf(stored)), signed)
})

t.test('whatever shape a resource has, its stamp is read from its own text members', async (t) => {
  const none = {
    ...{ [BY]: undefined, [REQUESTER]: undefined },
    ...{ [SIGNATURE]: undefined, [GENERATION]: undefined },
  }
  for (const value of [
    undefined,
    null,
    5,
    [],
    {},
    { metadata: null },
    resource({ [BY]: 5, [REQUESTER]: null }),
    resource({ [BY]: '', [REQUESTER]: '', [SIGNATURE]: '' }),
  ])
    t.strictSame(stampOf(value), none)
  for (const value of [{}, resource({ [AT]: '' })])
    t.match(signedOf(value, 'shop', none), { requestedAt: undefined })
  t.match(signedOf({}, 'shop', none), { kind: '', spec: undefined })
})

t.test(
  'suspend alone is no request: the stamp stays, and the generation of the request is noted',
  async (t) => {
    const at = (generation: number, spec: object, annotations: Annotations = OLD_STAMP) => ({
      ...{ kind: 'GitCommit', metadata: { name: 'settings', generation, annotations }, spec },
    })
    const noted = { ...OLD_STAMP, [GENERATION]: '3' }
    for (const [title, before, after, isNew, generation] of [
      ['suspended', at(3, { message: 'x' }), at(3, { message: 'x', suspend: true }), false, '3'],
      ['resumed', at(4, { message: 'x', suspend: true }, noted), at(4, { message: 'x' }), false, '3'],
      [
        'requested',
        at(4, { message: 'x' }, noted),
        at(4, { message: 'x' }, { ...noted, [AT]: '1' }),
        true,
        '3',
      ],
      ['changed', at(4, { message: 'x' }, noted), at(4, { message: 'y' }, noted), true, undefined],
      [
        'changed and resumed',
        at(4, { message: 'x', suspend: true }, noted),
        at(4, { message: 'y' }),
        true,
        undefined,
      ],
      [
        'forged',
        at(4, { message: 'x' }, noted),
        at(4, { message: 'x' }, { ...noted, [GENERATION]: '2' }),
        false,
        '3',
      ],
      ['created', undefined, at(1, { message: 'x', suspend: true }, noted), true, undefined],
    ] as const) {
      const application = applied(before, after)
      t.equal(isNewRequest(application), isNew, title)
      const stamp = stampFor(application, STAMPING)
      t.equal(stamp[GENERATION], generation, title)
      t.equal(stamp[BY], isNew ? 'developer' : 'ops', title)
    }
    t.ok(changesSuspend(applied(at(3, {}), at(3, { suspend: true }))))
    t.notOk(changesSuspend(applied(at(3, { suspend: true }), at(3, { suspend: true }))))
    const stamp = stampFor(applied(undefined, at(1, { message: 'x' })), { ...STAMPING, key: KEY })
    const signed = signedOf(at(2, { message: 'x', suspend: true }), 'shop', stamp)
    t.ok(verifies(signed, stamp[SIGNATURE], KEY), 'the signature does not cover it')
  },
)

t.test('a stamp names the generation that the request will have', async (t) => {
  const at = (generation: number, message: string, annotations: Annotations = {}) => {
    const { kind, spec } = resource({}, message)
    return { kind, metadata: { generation, annotations }, spec }
  }
  for (const [before, after, generation] of [
    [undefined, at(7, 'x'), 1],
    [at(3, 'x'), at(3, 'y'), 4],
    [at(3, 'x'), at(3, 'x', { [AT]: '1' }), 3],
    [at(3, 'x', { [GENERATION]: '2' }), at(3, 'x', { [AT]: '1', [GENERATION]: '2' }), 2],
    [at(3, 'x', { [GENERATION]: '2' }), at(3, 'y', { [GENERATION]: '2' }), 4],
  ] as const) {
    const stamp = stampFor(applied(before, after), { ...STAMPING, user: { username: 'developer' } })
    t.same(JSON.parse(stamp[REQUESTER] ?? ''), { username: 'developer', generation })
  }
})

t.test('a new generation is a request, or changes `suspend`, or neither', async (t) => {
  const at = (generation: number | undefined, spec: object) => ({ metadata: { generation }, spec })
  const before = at(1, { value: 1 })
  t.equal(onlyRaisesGeneration(applied(before, at(2, { value: 1 }))), true)
  for (const after of [at(2, { value: 2 }), at(2, { value: 1, suspend: true }), at(1, {}), at(undefined, {})])
    t.equal(onlyRaisesGeneration(applied(before, after)), false)
  t.equal(onlyRaisesGeneration(applied(undefined, before)), false)
})
