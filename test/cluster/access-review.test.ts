import t from 'tap'
import { accessReviews, askAboutSelf } from '../../functions/cluster/access-review.ts'
import { accessTo } from '../../functions/domain/gate/access.ts'
import type { Access } from '../../functions/domain/gate/access.ts'
import { judge } from '../domain/fixtures/parsed.ts'
import { reviewContext } from '../domain/fixtures/review-context.ts'
import { DEVELOPER, recorder, reviews, SECRET } from './review-stage.ts'
import { openAs, plainConfig, standIn, writeConfig } from './stage.ts'

t.test('a review names the whole user and the one object, and leaves out what is undefined', async (t) => {
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
  await ask({ username: 'ops' }, accessTo('get', { plural: 'clusterroles', namespaced: false }, role))
  const head =
    'POST /apis/authorization.k8s.io/v1/subjectaccessreviews {"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview",'
  t.strictSame(bodies, [
    `${head}"spec":{"user":"developer","uid":"u-1","groups":["developers","system:authenticated"],` +
      '"extra":{"scopes.authorization.openshift.io":["user:full"]},"resourceAttributes":{"verb":"use","group":"",' +
      '"version":"v1","resource":"secrets","namespace":"shop","name":"git"}}}',
    `${head}"spec":{"user":"ops","resourceAttributes":{"verb":"get","group":"rbac.authorization.k8s.io",` +
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
        await judge(resource(resourceRef, secretName), reviewContext({ ...world, namespace }))
  const asked = recorded.calls.map(({ body }) => JSON.stringify(body).replace(/^.*"resourceAttributes":/, ''))
  t.strictSame(asked.sort(), [
    '{"verb":"get","group":"","version":"v1","resource":"configmaps","namespace":"shop","name":"settings"}}}',
    '{"verb":"get","group":"","version":"v1","resource":"secrets","namespace":"shop","name":"git"}}}',
    '{"verb":"get","group":"rbac.authorization.k8s.io","version":"v1","resource":"clusterroles","name":"settings"}}}',
  ])
})

for (const [title, status] of [
  ['an error of the evaluation', { allowed: false, evaluationError: 'webhook authorizer is down' }],
  ['a denial', { allowed: false, denied: true }],
  ['text instead of a boolean', { allowed: 'true' }],
  ['an empty status', {}],
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
        "Commitlet's service account may not create subjectaccessreviews, so no user's rights can be checked; ask your Commitlet operator.",
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

t.test('what the API server tells everybody about themselves', async (t) => {
  const bodies: string[] = []
  const answers = [
    '{"status":{"userInfo":{"username":"ada","groups":["g"]}}}',
    '{"status":{"allowed":true}}',
    '{"status":{}}',
    '{"status":{}}',
  ]
  const url = await standIn(t, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      bodies.push(`${request.url} ${Buffer.concat(chunks).toString()}`)
      response.writeHead(201, { 'content-type': 'application/json' }).end(answers[bodies.length - 1])
    })
  })
  const self = askAboutSelf(openAs(await writeConfig(t, plainConfig(url))))
  t.match(await self.whoAmI(), { username: 'ada', groups: ['g'] })
  t.equal(await self.mayI(SECRET), true)
  t.equal(await self.mayI(SECRET), false)
  await t.rejects(self.whoAmI(), { reason: 'ProviderUnavailable', message: /who calls it/ })
  t.match(bodies, [
    '/apis/authentication.k8s.io/v1/selfsubjectreviews {"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}',
    /^\/apis\/authorization\.k8s\.io\/v1\/selfsubjectaccessreviews .*"resourceAttributes":\{"verb":"use"/,
  ])
})
