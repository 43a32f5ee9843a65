import t from 'tap'
import { accessReviews } from '../../functions/cluster/access-review.ts'
import type { ReviewAccess } from '../../functions/cluster/access-review.ts'
import type { ApiAnswer, ApiCall, ApiServer } from '../../functions/cluster/api-server.ts'
import { accessTo } from '../../functions/domain/access.ts'
import type { Access } from '../../functions/domain/access.ts'
import { judge } from '../../functions/domain/gate.ts'
import { outside } from '../domain/fixtures/outside.ts'
import { openAs, plainConfig, standIn, writeConfig } from './stage.ts'

const SECRET = accessTo(
  'use',
  { plural: 'secrets', namespaced: true },
  { apiVersion: 'v1', namespace: 'shop', name: 'git' },
)
const DEVELOPER = {
  username: 'developer',
  uid: 'u-1',
  groups: ['developers', 'system:authenticated'],
  extra: { 'scopes.authorization.openshift.io': ['user:full'] },
}
const ALLOWED = { allowed: true }
const DENIED = { allowed: false, reason: 'RBAC: …' }

interface Recorder {
  readonly calls: ApiCall[]
  readonly server: ApiServer
  /** Status of what is answered from now on. */
  status: object
  http: number
  /** Holds answers back until it is resolved. */
  gate: Promise<unknown>
}

/** An API server that notes what it is asked, and answers as it is told at the moment of the answer. */
function recorder(status: object = ALLOWED): Recorder {
  const recorded: Recorder = {
    calls: [],
    status,
    http: 201,
    gate: Promise.resolve(),
    async server(call): Promise<ApiAnswer> {
      recorded.calls.push(call)
      await recorded.gate
      return { status: recorded.http, text: JSON.stringify({ status: recorded.status }) }
    },
  }
  return recorded
}

interface Clocked {
  readonly ask: ReviewAccess
  now: number
}

/** Reviews with a clock that stands until it is set. */
function reviews(recorded: Recorder): Clocked {
  const clock: Clocked = { now: 1_000_000, ask: accessReviews(recorded.server, () => clock.now) }
  return clock
}

/** The nth access: all different. */
function nth(index: number): Access {
  return { ...SECRET, name: `git-${index}` }
}

t.test('the whole user and the one object are asked about, and nothing that is undefined', async (t) => {
  const bodies: string[] = []
  const url = await standIn(t, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      bodies.push(`${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`)
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"status":{"allowed":true}}')
    })
  })
  const ask = accessReviews(openAs(await writeConfig(t, plainConfig(url))), Date.now)
  t.equal(await ask(DEVELOPER, SECRET), true)
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', namespace: 'shop', name: 'admin' }
  await ask({ username: 'joe' }, accessTo('get', { plural: 'clusterroles', namespaced: false }, role))
  const head =
    'POST /apis/authorization.k8s.io/v1/subjectaccessreviews {"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview",'
  t.strictSame(bodies, [
    `${head}"spec":{"user":"developer","uid":"u-1","groups":["developers","system:authenticated"],` +
      '"extra":{"scopes.authorization.openshift.io":["user:full"]},"resourceAttributes":{"verb":"use","group":"",' +
      '"version":"v1","resource":"secrets","namespace":"shop","name":"git"}}}',
    `${head}"spec":{"user":"joe","resourceAttributes":{"verb":"get","group":"rbac.authorization.k8s.io",` +
      '"version":"v1","resource":"clusterroles","name":"admin"}}}',
  ])
})

t.test('the gate never asks about all objects or all namespaces', async (t) => {
  const recorded = recorder()
  const { ask } = reviews(recorded)
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', path: 'a.yaml' }
  const role = { ...reference, apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' }
  const resource = (resourceRef: object, secretName: string): object => ({
    apiVersion: 'commitlet.dev/v1',
    kind: 'GitCommit',
    metadata: { namespace: 'shop' },
    spec: {
      repository: 'https://git.example.com/acme/shop.git',
      message: 'x',
      credentials: { secretName },
      resourceRef,
    },
  })
  const world = { referenceScope: 'any', review: (access: Access) => ask(DEVELOPER, access) } as const
  for (const resourceRef of [reference, role, { ...reference, name: '' }, { ...reference, namespace: '' }])
    for (const namespace of ['shop', ''])
      for (const secretName of ['git', ''])
        await judge(resource(resourceRef, secretName), outside({ ...world, namespace }))
  const asked = recorded.calls.map(({ body }) => JSON.stringify(body).replace(/^.*"resourceAttributes":/, ''))
  t.strictSame(asked.sort(), [
    '{"verb":"get","group":"","version":"v1","resource":"configmaps","namespace":"shop","name":"settings"}}}',
    '{"verb":"get","group":"","version":"v1","resource":"secrets","namespace":"shop","name":"git"}}}',
    '{"verb":"get","group":"rbac.authorization.k8s.io","version":"v1","resource":"clusterroles","name":"settings"}}}',
  ])
})

t.test('an "allowed" counts for 5 s from the question', async (t) => {
  const recorded = recorder()
  const clock = reviews(recorded)
  const { promise, resolve } = Promise.withResolvers<undefined>()
  recorded.gate = promise
  const first = clock.ask(DEVELOPER, SECRET)
  clock.now += 3_000
  resolve(undefined)
  t.equal(await first, true)
  recorded.status = DENIED
  clock.now += 1_999
  t.equal(await clock.ask(DEVELOPER, SECRET), true, '4,999 ms after the question')
  t.equal(recorded.calls.length, 1)
  clock.now += 1
  t.equal(await clock.ask(DEVELOPER, SECRET), false, '5,000 ms after the question')
})

t.test('a "denied" is never remembered', async (t) => {
  const recorded = recorder(DENIED)
  const { ask } = reviews(recorded)
  t.equal(await ask(DEVELOPER, SECRET), false)
  t.equal(await ask(DEVELOPER, SECRET), false)
  recorded.status = ALLOWED
  t.equal(await ask(DEVELOPER, SECRET), true)
  t.equal(recorded.calls.length, 3)
})

t.test('an "allowed" of one does not count for another, or for another object', async (t) => {
  const recorded = recorder()
  const { ask } = reviews(recorded)
  await ask(DEVELOPER, SECRET)
  recorded.status = DENIED
  const others: Parameters<ReviewAccess>[] = [
    [{ ...DEVELOPER, username: 'joe' }, SECRET],
    [{ ...DEVELOPER, uid: 'u-2' }, SECRET],
    [{ ...DEVELOPER, groups: [] }, SECRET],
    [{ ...DEVELOPER, groups: ['developers,system:authenticated'] }, SECRET],
    [{ ...DEVELOPER, extra: {} }, SECRET],
    [DEVELOPER, { ...SECRET, verb: 'get' }],
    [DEVELOPER, { ...SECRET, namespace: 'other' }],
    [DEVELOPER, { ...SECRET, namespace: undefined }],
    [DEVELOPER, { ...SECRET, name: 'other' }],
    [DEVELOPER, { ...SECRET, group: 'example.com' }],
    [DEVELOPER, { ...SECRET, resource: 'configmaps' }],
  ]
  for (const [user, access] of others) t.equal(await ask(user, access), false, JSON.stringify([user, access]))
  t.equal(await ask({ ...DEVELOPER }, { ...SECRET }), true)
})

t.test('equal questions that are under way are one', async (t) => {
  const recorded = recorder()
  const clock = reviews(recorded)
  const { promise, resolve } = Promise.withResolvers<undefined>()
  recorded.gate = promise
  const early = [clock.ask(DEVELOPER, SECRET), clock.ask(DEVELOPER, SECRET)]
  t.equal(recorded.calls.length, 1)
  clock.now += 5_000
  const late = clock.ask(DEVELOPER, SECRET)
  t.equal(recorded.calls.length, 2, 'but none joins a question that is 5 s old')
  resolve(undefined)
  t.strictSame(await Promise.all([...early, late]), [true, true, true])
})

t.test('an old question that ends with no takes nothing from the new one', async (t) => {
  const recorded = recorder(DENIED)
  const clock = reviews(recorded)
  const old = Promise.withResolvers<undefined>()
  recorded.gate = old.promise
  const first = clock.ask(DEVELOPER, SECRET)
  clock.now += 5_000
  recorded.gate = Promise.resolve()
  recorded.status = ALLOWED
  t.equal(await clock.ask(DEVELOPER, SECRET), true)
  recorded.status = DENIED
  old.resolve(undefined)
  t.equal(await first, false)
  t.equal(await clock.ask(DEVELOPER, SECRET), true)
  t.equal(recorded.calls.length, 2)
})

t.test('4,096 answers are remembered, and the oldest goes first', async (t) => {
  const recorded = recorder()
  const { ask } = reviews(recorded)
  for (let index = 0; index <= 4_096; index += 1) await ask(DEVELOPER, nth(index))
  t.equal(recorded.calls.length, 4_097)
  await ask(DEVELOPER, nth(1))
  await ask(DEVELOPER, nth(4_096))
  t.equal(recorded.calls.length, 4_097)
  await ask(DEVELOPER, nth(0))
  t.equal(recorded.calls.length, 4_098)
})

t.test('what is asked again is not the oldest any more', async (t) => {
  const recorded = recorder()
  const clock = reviews(recorded)
  await clock.ask(DEVELOPER, nth(0))
  clock.now += 1
  await clock.ask(DEVELOPER, nth(1))
  clock.now += 4_999
  await clock.ask(DEVELOPER, nth(0))
  for (let index = 2; index <= 4_096; index += 1) await clock.ask(DEVELOPER, nth(index))
  const before = recorded.calls.length
  await clock.ask(DEVELOPER, nth(0))
  t.equal(recorded.calls.length, before)
})

for (const [title, status] of [
  ['an error of the evaluation', { allowed: false, evaluationError: 'webhook authorizer is down' }],
  ['a denial', { allowed: false, denied: true }],
  ['text for a truth', { allowed: 'true' }],
  ['no word', {}],
] as const) {
  t.test(`${title} is a no`, async (t) =>
    t.equal(await reviews(recorder(status)).ask(DEVELOPER, SECRET), false),
  )
}

t.test('an "allowed" beside an error of the evaluation is a yes', async (t) => {
  const status = { allowed: true, evaluationError: 'one Role was not found' }
  t.equal(await reviews(recorder(status)).ask(DEVELOPER, SECRET), true)
})

for (const [http, failure] of [
  [
    403,
    {
      reason: 'ReferenceForbidden',
      retry: 'slow',
      message:
        "Commitlet's service account may not create subjectaccessreviews, so nobody's rights can be told; ask whoever runs Commitlet.",
    },
  ],
  [401, { reason: 'ReferenceForbidden', retry: 'slow' }],
  [429, { reason: 'RateLimited' }],
  [500, { reason: 'ProviderUnavailable' }],
  [422, { reason: 'ProviderUnavailable' }],
] as const) {
  t.test(`an answer of ${http} decides nothing, and is not remembered`, async (t) => {
    const recorded = recorder()
    const { ask } = reviews(recorded)
    recorded.http = http
    await t.rejects(ask(DEVELOPER, SECRET), { name: 'Failure', ...failure })
    recorded.http = 201
    t.equal(await ask(DEVELOPER, SECRET), true)
  })
}
