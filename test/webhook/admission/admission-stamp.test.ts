import { createSecretKey } from 'node:crypto'
import t from 'tap'
import { isRecord } from '../../../functions/domain/json-value.ts'
import { mutate, validate } from '../../../webhook/admission/admission.ts'
import { foreignSignature, foreignStamp } from '../../../webhook/admission/responses.ts'
import { memoryCluster } from '../../harness/memory-cluster.ts'
import { admissionOver, BY, created, REQUESTER, updated } from './stage.ts'
import { gitCommit, STAMP_OF_DEVELOPER, stamped } from '../stage.ts'

const SIGNATURE = 'commitlet.dev/requester-signature'
const STAMPED = { annotations: { [BY]: 'ops', [REQUESTER]: '{"username":"ops"}' } }

t.test('a new resource gets the stamp of its sender', async (t) => {
  const value = { [BY]: 'developer', [REQUESTER]: STAMP_OF_DEVELOPER[REQUESTER] }
  t.strictSame(await mutate(created(gitCommit()), admissionOver()), {
    patch: [{ op: 'add', path: '/metadata/annotations', value }],
  })
})

t.test('other annotations are not read to set the stamp, however many there are', async (t) => {
  let read = 0
  const annotations = new Proxy<Record<string, string>>(
    { other: 'a' },
    {
      ownKeys(of) {
        read += 1
        return Reflect.ownKeys(of)
      },
    },
  )
  const { patch = [] } = await mutate(created(gitCommit({ annotations })), admissionOver())
  t.strictSame(
    patch.map(({ path }) => path),
    [BY, REQUESTER].map((key) => `/metadata/annotations/${key.replace('/', '~1')}`),
  )
  t.equal(read, 0)
})

t.test('a stamp that was changed without a new request is restored', async (t) => {
  const forged = gitCommit({ annotations: { ...STAMPED.annotations, [BY]: 'forged' } })
  t.strictSame(await mutate(updated(gitCommit(STAMPED), forged), admissionOver()), {
    patch: [{ op: 'add', path: '/metadata/annotations/commitlet.dev~1requested-by', value: 'ops' }],
    warnings: [
      'commitlet.dev/requested-by is written by Commitlet alone; the value that was sent is ignored.',
    ],
  })
})

t.test(
  'two large specs are compared once, while the review is read in the turns of its namespace',
  async (t) => {
    let compared = 0
    const { spec } = gitCommit()
    const counted = new Proxy(spec, {
      ownKeys(of) {
        compared += 1
        return Reflect.ownKeys(of)
      },
    })
    const metadata = { ...STAMPED, generation: 1 }
    const before = { ...gitCommit(metadata), spec: counted }
    const forged = gitCommit({ annotations: { [BY]: 'forged' }, generation: 2 })
    const request = updated(before, { ...forged, spec: { ...spec } })
    t.equal(compared, 1)
    t.match(await mutate(request, admissionOver()), { patch: [{ value: 'ops' }, {}] })
    t.match(await validate(request, admissionOver()), { denial: { code: 422 } })
    t.equal(compared, 1)
  },
)

t.test('a sender who writes into the stamp is warned, unless it is a new request or a replace', async (t) => {
  const changed = { message: 'x' }
  const before = gitCommit(STAMPED)
  for (const [title, request, names] of [
    ['a copy of another resource', created(gitCommit(STAMPED)), [BY, REQUESTER]],
    ['one that is taken away', updated(before, gitCommit({ annotations: { [BY]: 'ops' } })), [REQUESTER]],
    [
      'a spec with it',
      updated(before, gitCommit({ annotations: { ...STAMPED.annotations, [BY]: 'me' } }, changed)),
      [BY],
    ],
    ['a changed spec', updated(before, gitCommit(STAMPED, changed)), []],
    ['a manifest without a stamp', updated(before, gitCommit({}, changed)), []],
    ['what /mutate itself has set', created(stamped()), []],
  ] as const) {
    const { warnings = [] } = await mutate(request, admissionOver())
    t.strictSame(
      warnings.map((text) => text.split(' ')[0]),
      names,
      title,
    )
  }
})

t.test('a user with more groups than fit into a resource is denied', async (t) => {
  // The user takes less than 128 KiB, the annotations more.
  const groups = Array.from({ length: 2_000 }, (_, index) => `${index}-`.padEnd(62, 'x'))
  const username = 'developer'.padEnd(960, '-')
  const request = created(gitCommit(), { userInfo: { username, groups } })
  t.match(await mutate(request, admissionOver()), {
    denial: {
      code: 422,
      reason: 'Invalid',
      message:
        "Your user information from the API server (user name, 2000 groups and the keys of REQUESTER_EXTRA) takes 129 KiB in the annotations of the resource, but may take at most 128 KiB; ask the administrator of your cluster's user accounts to give you fewer groups.",
      details: {
        group: 'commitlet.dev',
        kind: 'GitCommit',
        name: 'settings',
        causes: [
          {
            reason: 'InvalidSpec',
            field: 'metadata.annotations',
            message: /takes 129 KiB .* fewer groups\.$/,
          },
        ],
      },
    },
  })
  const fewer = created(gitCommit(), { userInfo: { username, groups: groups.slice(0, 1_400) } })
  t.match(await mutate(fewer, admissionOver()), { patch: [{ op: 'add' }], denial: undefined })
})

t.test('an update of the spec is stamped again', async (t) => {
  const { patch = [] } = await mutate(
    updated(gitCommit(STAMPED), gitCommit(STAMPED, { message: 'x' })),
    admissionOver(),
  )
  t.match(patch, [{ value: 'developer' }, { value: /"developer"/ }])
})

t.test('the stamp is signed with the key, and /validate allows no other one', async (t) => {
  const signing = admissionOver({ settings: { stampKey: createSecretKey(Buffer.alloc(32, 'k')) } })
  const { patch: [added] = [] } = await mutate(created(gitCommit()), signing)
  const annotations = added?.op === 'add' && isRecord(added.value) ? added.value : {}
  t.match(annotations[SIGNATURE], /^[0-9a-f]{64}$/)
  t.strictSame(await validate(created(gitCommit({ annotations })), signing), { warnings: [] })
  for (const [title, code, final] of [
    ['another signature', 503, gitCommit({ annotations: { ...annotations, [SIGNATURE]: 'f'.repeat(64) } })],
    ['no signature', 503, gitCommit({ annotations: { ...annotations, [SIGNATURE]: undefined } })],
    ['another spec', 503, gitCommit({ annotations }, { message: 'changed by a later webhook' })],
    [
      'another requested-at',
      503,
      gitCommit({ annotations: { ...annotations, 'commitlet.dev/requested-at': 'x' } }),
    ],
    [
      'a requester without a generation, as of a replica of another version',
      503,
      gitCommit({
        annotations: {
          ...annotations,
          [REQUESTER]: String(annotations[REQUESTER]).replace(/,"generation":1/, ''),
          [SIGNATURE]: 'f'.repeat(64),
        },
      }),
    ],
    ['another name for people', 403, gitCommit({ annotations: { ...annotations, [BY]: 'admin' } })],
    [
      'another requester',
      403,
      gitCommit({ annotations: { ...annotations, [REQUESTER]: '{"username":"admin"}' } }),
    ],
    ['no stamp', 403, gitCommit()],
  ] as const) {
    const { denial } = await validate(created(final), signing)
    t.match(denial, code === 403 ? foreignStamp() : foreignSignature(), title)
  }
})

const CONTROLLER = { username: 'system:serviceaccount:gitops:controller', extra: { scope: ['user:full'] } }

for (const [title, mutating, expected] of [
  ['another key', { settings: { stampKey: createSecretKey(Buffer.alloc(32, 'a')) } }, foreignSignature()],
  ['no key', { settings: { stampKey: undefined } }, foreignSignature()],
  ['another REQUESTER_EXTRA', { extra: ['scope'] }, foreignStamp()],
  [
    'another delegation',
    { settings: { delegation: { appliers: [CONTROLLER.username], account: 'commitlet' } } },
    foreignStamp(),
  ],
] as const) {
  t.test(`during a rollout, /mutate of a replica with ${title} is reported as the cause`, async (t) => {
    const settings = { stampKey: createSecretKey(Buffer.alloc(32, 'b')) }
    const request = { userInfo: CONTROLLER }
    const before = admissionOver({ ...mutating, settings: { ...settings, ...mutating.settings } })
    const { patch: [added] = [] } = await mutate(created(gitCommit(), request), before)
    const annotations = added?.op === 'add' ? added.value : undefined
    const after = await validate(created(gitCommit({ annotations }), request), admissionOver({ settings }))
    t.strictSame(after, { denial: expected })
  })
}

t.test('a signature that is changed without a new request does not mean a new key', async (t) => {
  const stored = stamped({ annotations: { ...STAMP_OF_DEVELOPER, [SIGNATURE]: 'a'.repeat(64) } })
  const final = stamped({ annotations: { ...STAMP_OF_DEVELOPER, [SIGNATURE]: 'b'.repeat(64) } })
  const signing = admissionOver({ settings: { stampKey: createSecretKey(Buffer.alloc(32, 'k')) } })
  t.strictSame(await validate(updated(stored, final), signing), { denial: foreignStamp() })
})

t.test('a signature is removed where stamps are not signed', async (t) => {
  const sent = stamped({ annotations: { ...STAMP_OF_DEVELOPER, [SIGNATURE]: 'f'.repeat(64) } })
  t.strictSame(await mutate(created(sent), admissionOver()), {
    patch: [{ op: 'remove', path: '/metadata/annotations/commitlet.dev~1requester-signature' }],
    warnings: [`${SIGNATURE} is written by Commitlet alone; the value that was sent is ignored.`],
  })
  t.match((await validate(created(sent), admissionOver())).denial, { code: 503 })
})

t.test('where only the stamp changes, no right is reviewed and no Secret read', async (t) => {
  const cluster = memoryCluster()
  const unwanted = () => Promise.reject(new Error('nothing is to be asked'))
  const admission = admissionOver({ cluster: { ...cluster, discover: unwanted, readSecret: unwanted } })
  const forged = gitCommit({ annotations: { ...STAMPED.annotations, [REQUESTER]: '{"username":"admin"}' } })
  const update = updated(gitCommit(STAMPED), forged)
  t.match((await mutate(update, admission)).patch, [{ value: STAMPED.annotations[REQUESTER] }])
  t.match((await validate(update, admission)).denial, { code: 403 })
  t.strictSame(cluster.reviews, [])
})

t.test('the stamp of a follower says when it was made, and both webhooks agree on it', async (t) => {
  const minutes = { passed: 0 }
  const start = Date.parse('2026-03-01T10:00:00Z')
  const now = (): Date => new Date(start + minutes.passed * 60_000)
  const admission = {
    ...admissionOver({ settings: { stampKey: createSecretKey(Buffer.alloc(32, 1)) } }),
    now,
  }
  const following = { sync: 'OnChange' }
  const { patch = [] } = await mutate(created(gitCommit({}, following)), admission)
  const [operation] = patch
  const annotations = operation?.op === 'add' && isRecord(operation.value) ? operation.value : {}
  t.match(annotations[REQUESTER], /"at":"2026-03-01T10:00:00.000Z"\}$/)
  minutes.passed = 1
  const sent = created(gitCommit({ annotations }, following))
  t.strictSame(await validate(sent, admission), { warnings: [] })
  minutes.passed = 60
  t.match(await validate(sent, admission), { denial: {} }, 'an old stamp is not taken for a new one')
})
