import { createSecretKey } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { authorise, reviewAhead } from '../../functions/login/authorise.ts'
import { signedOf } from '../../functions/domain/requester/stamp.ts'
import { sign } from '../../functions/domain/requester/signature.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { parseResource } from '../domain/fixtures/parsed.ts'
import type { AttemptSettings } from '../../functions/world.ts'
import { gitCommit, memoryWorld, STAMPED } from '../harness/memory-world.ts'

const KEY = createSecretKey(Buffer.alloc(32, 'k'))
const BY = 'commitlet.dev/requested-by'
const REQUESTER = 'commitlet.dev/requester'
const SIGNATURE = 'commitlet.dev/requester-signature'
const AT_LEISURE = new AbortController().signal
const ASK_AGAIN =
  /; request it again: kubectl annotate -n team gitcommits shop commitlet\.dev\/requested-at="\$\(date -u \+%FT%TZ\)" --overwrite$/

function stage(resource = gitCommit(), settings: Partial<AttemptSettings> = {}) {
  const world = memoryWorld()
  const stored = parseResource(world.cluster.apply(resource))
  return { stored, cluster: world.cluster, world: { ...world, settings: { ...world.settings, ...settings } } }
}

/** The GitCommit with the signature that fits it. */
function signed(spec = {}, annotations = {}) {
  const resource = gitCommit(spec, annotations)
  const stamp = { ...STAMPED, ...annotations }
  return gitCommit(spec, { ...annotations, [SIGNATURE]: sign(signedOf(resource, 'team', stamp), KEY) })
}

t.test('the rights of the requester in the stamp are reviewed, with their groups', async (t) => {
  const { stored, world, cluster } = stage()
  const { requester, verdict } = await authorise(stored, world, AT_LEISURE)
  const subject = { username: 'developer', groups: ['developers'] }
  t.strictSame(requester, { subject, username: 'developer', displayName: 'developer' })
  t.strictSame(verdict.secretRights, { 'spec.credentials': 'get' })
  t.strictSame([...verdict.served], [['ConfigMap of v1', { plural: 'configmaps', namespaced: true }]])
  for (const { user } of cluster.reviews) t.strictSame(user, subject)
  const asked = cluster.reviews.map(({ access }) => [
    access.verb,
    access.resource,
    access.namespace,
    access.name,
  ])
  t.strictSame(asked.sort(), [
    ['get', 'configmaps', 'team', 'shop'],
    ['get', 'secrets', 'team', 'git'],
  ])
})

for (const [title, resource] of [
  ['no stamp', gitCommit({}, { [BY]: undefined, [REQUESTER]: undefined })],
  ['no name for people', gitCommit({}, { [BY]: undefined })],
  ['no requester', gitCommit({}, { [REQUESTER]: undefined })],
  ['a requester that is not JSON', gitCommit({}, { [REQUESTER]: 'developer' })],
  ['a requester without a name', gitCommit({}, { [REQUESTER]: '{"groups":["system:masters"]}' })],
  [
    'a requester that is delegated to another namespace',
    gitCommit({}, { [REQUESTER]: '{"username":"a","as":"system:serviceaccount:other:commitlet"}' }),
  ],
] as const) {
  t.test(`with ${title} no right is reviewed, and the sentence says how to request again`, async (t) => {
    const { metadata, ...rest } = resource
    const annotations: unknown = JSON.parse(JSON.stringify(metadata['annotations']))
    const { stored, world, cluster } = stage({ ...rest, metadata: { ...metadata, annotations } })
    await t.rejects(authorise(stored, world, AT_LEISURE), {
      reason: 'ReferenceForbidden',
      retry: 'never',
      message: new RegExp(`^The resource does not say who asked for it.*${ASK_AGAIN.source}`),
    })
    t.strictSame(cluster.reviews, [])
  })
}

t.test('with a key only a valid signature counts', async (t) => {
  const fitting = stage(signed(), { stampKey: KEY })
  t.match(await authorise(fitting.stored, fitting.world, AT_LEISURE), {
    requester: { username: 'developer' },
  })
  const other = signed({ message: 'Another message' })
  for (const [title, resource, stampKey] of [
    ['none', gitCommit(), KEY],
    [
      'that of another spec',
      gitCommit({}, { [SIGNATURE]: Object(other.metadata['annotations'])[SIGNATURE] }),
      KEY,
    ],
    ['one by another key', signed(), createSecretKey(Buffer.alloc(32, 'x'))],
    ['one of a longer text', gitCommit({}, { [SIGNATURE]: 'f'.repeat(65) }), KEY],
  ] as const) {
    const { stored, world, cluster } = stage(resource, { stampKey })
    await t.rejects(
      authorise(stored, world, AT_LEISURE),
      { reason: 'ReferenceForbidden', message: /^The resource does not prove who asked for it/ },
      title,
    )
    t.strictSame(cluster.reviews, [], title)
  }
})

t.test('a delegate is reviewed as the account, whether stamped so or configured later', async (t) => {
  const username = 'system:serviceaccount:gitops:controller'
  const account = 'system:serviceaccount:team:commitlet'
  for (const [requester, settings] of [
    [{ username, as: account }, {}],
    [{ username }, { delegation: { appliers: [username], account: 'commitlet' } }],
  ] as const) {
    const { stored, world, cluster } = stage(
      gitCommit({}, { [REQUESTER]: JSON.stringify(requester) }),
      settings,
    )
    t.match(await authorise(stored, world, AT_LEISURE), {
      requester: { subject: { username: account }, username },
    })
    t.ok(cluster.reviews.length > 0)
    for (const { user } of cluster.reviews) {
      t.equal(user.username, account)
      t.strictSame(user.groups, [
        'system:serviceaccounts',
        'system:serviceaccounts:team',
        'system:authenticated',
      ])
    }
  }
})

const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: 'shop.yaml' }
const SECRET_SENTENCE =
  /The Secret git in the namespace team is not one that developer may `get`, or may `use` for this repository \(`use` counts only while [^;]*; /

for (const [title, may, message] of [
  [
    'the object',
    /^(get|use) secrets/,
    /^spec\.resourceRef is the ConfigMap shop in the namespace team, which developer may not `get`; /,
  ],
  ['the Secret', /^get configmaps/, SECRET_SENTENCE],
  ['both', /^never/, new RegExp(`^spec\\.resourceRef [^]* ${SECRET_SENTENCE.source}`)],
] as const) {
  t.test(`revoked rights to ${title} end the attempt for good`, async (t) => {
    const { stored, world, cluster } = stage()
    cluster.mayAccess = (_user, { verb, resource }) => may.test(`${verb} ${resource}`)
    await t.rejects(authorise(stored, world, AT_LEISURE), {
      reason: 'ReferenceForbidden',
      retry: 'never',
      message,
    })
  })
}

for (const [title, spec, settings, refusal] of [
  [
    'another namespace',
    { resourceRef: { ...CONFIG_MAP, namespace: 'other' } },
    {},
    { reason: 'ReferenceForbidden', message: /own namespace/ },
  ],
  [
    'a repository that the operator refuses now',
    {},
    { allowedRepositories: 'github.com' },
    { reason: 'AddressForbidden', message: /ALLOWED_REPOSITORIES/ },
  ],
  [
    'a GitHub App without its key',
    { credentials: { secretName: 'git', appIDKey: 'id' } },
    {},
    { reason: 'InvalidSpec', message: /^spec\.credentials\.privateKeyKey is missing/ },
  ],
  ['a Secret to be committed', { resourceRef: { ...CONFIG_MAP, kind: 'Secret' } }, {}, { message: /Secret/ }],
] as const) {
  t.test(`what /validate denies, the attempt refuses: ${title}`, async (t) => {
    const { stored, world } = stage(gitCommit(spec), settings)
    await t.rejects(authorise(stored, world, AT_LEISURE), refusal)
  })
}

t.test('the right to use the Secret is enough; `get` is reviewed first', async (t) => {
  const { stored, world, cluster } = stage()
  cluster.mayAccess = (_user, { verb, resource }) => resource === 'configmaps' || verb === 'use'
  t.match(await authorise(stored, world, AT_LEISURE), {
    verdict: { secretRights: { 'spec.credentials': 'use' } },
  })
  const verbs = cluster.reviews
    .filter(({ access }) => access.resource === 'secrets')
    .map(({ access }) => access.verb)
  t.strictSame(verbs, ['get', 'use'])
})

t.test('without credentials the right to the default ones is reviewed, and may be revoked', async (t) => {
  const { stored, world, cluster } = stage(gitCommit({ credentials: undefined }))
  t.strictSame((await authorise(stored, world, AT_LEISURE)).verdict.secretRights, {})
  const asked = cluster.reviews.find(({ access }) => access.resource === 'defaultcredentials')
  t.match(asked, { access: { verb: 'use', group: 'commitlet.dev', namespace: 'team' } })
  cluster.mayAccess = (_user, { resource }) => resource !== 'defaultcredentials'
  await t.rejects(authorise(stored, world, AT_LEISURE), {
    reason: 'ReferenceForbidden',
    message: /^spec\.credentials is missing, and developer may not `use` the operator's default credentials /,
  })
})

t.test('an attempt asks in the turns of its namespace', async (t) => {
  const { stored, world, cluster } = stage()
  const by: unknown[] = []
  const asking: typeof cluster = {
    ...cluster,
    reviewAccess(user, access, one) {
      by.push(one)
      return cluster.reviewAccess(user, access, one)
    },
    discover(apiVersion, kind, one) {
      by.push(one)
      return cluster.discover(apiVersion, kind, one)
    },
  }
  await authorise(stored, { ...world, cluster: asking }, AT_LEISURE)
  t.strictSame(by, Array(3).fill({ namespace: 'team' }))
})

t.test('a failed review decides nothing, and is retried', async (t) => {
  const { stored, world, cluster } = stage()
  const down = new Failure('NetworkError', 'No API server.')
  const failing = { ...cluster, reviewAccess: () => Promise.reject(down) }
  const thrown = await authorise(stored, { ...world, cluster: failing }, AT_LEISURE).catch(
    (error: unknown) => error,
  )
  t.equal(thrown, down)
})

for (const [title, resource] of [
  ['the object', 'configmaps'],
  ['the Secret', 'secrets'],
] as const) {
  t.test(
    `one API server that does not know the right to ${title} yet does not end the attempt`,
    async (t) => {
      const { stored, world, cluster } = stage()
      // Where `get` on a Secret is denied, `use` is reviewed as well.
      const late = new Set([`get ${resource}`, `use ${resource}`])
      cluster.mayAccess = (_user, access) => !late.delete(`${access.verb} ${access.resource}`)
      const { verdict } = await authorise(stored, world, AT_LEISURE)
      t.match(verdict, { fieldErrors: [], secretRights: { 'spec.credentials': 'get' } })
    },
  )
}

t.test('the wait for a right to take effect ends with the attempt', async (t) => {
  const { stored, world, cluster } = stage()
  cluster.mayAccess = () => false
  const over = new AbortController()
  const ending = authorise(stored, world, over.signal)
  while (cluster.reviews.length < 3) await setImmediate()
  await setImmediate()
  over.abort()
  await t.rejects(ending, { reason: 'Timeout', message: /a right that may have just been granted/ })
})

/** A GitCommit that names a hundred objects, and a cluster that answers reviews once it is told to. */
function reviewing() {
  const files = Array.from({ length: 100 }, (_, i) => ({
    path: `${i}.yaml`,
    resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: `c${i}` },
  }))
  const { stored, world, cluster } = stage(gitCommit({ files, resourceRef: undefined }))
  const open: (() => void)[] = []
  const reviewAccess: typeof cluster.reviewAccess = (user, access) => {
    const answer = cluster.reviewAccess(user, access)
    return new Promise((resolve) => open.push(() => resolve(answer)))
  }
  async function answerAll(): Promise<void> {
    for (let times = 0; times < 50; times += 1) {
      for (const answer of open.splice(0)) answer()
      await setImmediate()
    }
  }
  return { stored, cluster, world: { ...world, cluster: { ...cluster, reviewAccess } }, answerAll }
}

t.test('reviews that were begun ahead end with the attempt', async (t) => {
  const [over, whole] = [new AbortController(), reviewing()]
  reviewAhead({ envelope: whole.stored, parsed: whole.stored }, whole.world, AT_LEISURE)
  await whole.answerAll()
  t.equal(whole.cluster.reviews.length, 101)
  const { stored, world, cluster, answerAll } = reviewing()
  reviewAhead({ envelope: stored, parsed: stored }, world, over.signal)
  await setImmediate()
  const begun = cluster.reviews.length
  over.abort()
  await answerAll()
  t.equal(cluster.reviews.length, begun)
  t.ok(begun < 20, `${begun} reviews`)
})

for (const [title, reason, thrown] of [
  ['that ran out of time', undefined, { reason: 'Timeout', message: /ran out of time/ }],
  [
    'that was taken over',
    new Failure('Conflict', 'Taken over.'),
    { reason: 'Conflict', message: 'Taken over.' },
  ],
] as const) {
  t.test(`an attempt ${title} asks for no further review`, async (t) => {
    const { stored, world, cluster, answerAll } = reviewing()
    const over = new AbortController()
    const ending = authorise(stored, world, over.signal)
    await setImmediate()
    const begun = cluster.reviews.length
    over.abort(reason)
    const rejected = t.rejects(ending, thrown)
    await answerAll()
    await rejected
    t.equal(cluster.reviews.length, begun)
  })
}
