import fc from 'fast-check'
import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import { failureOf, judge } from '../../functions/domain/gate.ts'
import type { Outside } from '../../functions/domain/outside.ts'
import { outside } from './fixtures/outside.ts'

const SPEC = {
  repository: 'https://git.example.com/acme/shop.git',
  message: 'chore: settings',
  credentials: { secretName: 'git', tokenKey: 'token' },
  resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', path: 'prod/settings.yaml' },
}

function gitCommit(spec: unknown): unknown {
  return {
    apiVersion: 'commitlet.dev/v1',
    kind: 'GitCommit',
    metadata: { generateName: 'x-', namespace: 'shop' },
    spec,
  }
}

function referring(reference: Record<string, unknown>): unknown {
  return gitCommit({ ...SPEC, resourceRef: { ...SPEC.resourceRef, ...reference } })
}

t.test('a sound resource passes, before it is stored as after', async (t) => {
  t.same(await judge(gitCommit(SPEC), outside()), {
    faults: [],
    warnings: [],
    served: { plural: 'configmaps', namespaced: true },
    secretRights: { 'spec.credentials': 'get' },
  })
})

t.test('schema and rules speak at once, the rule where both speak of a field', async (t) => {
  const spec = { ...SPEC, repository: 'https://h/%2e%2e/a', branch: 5, message: 'Commitlet-Id: x' }
  const { faults } = await judge(gitCommit(spec), outside())
  t.same(
    faults.map(({ message }) => message),
    [
      'spec.branch has to be the name of a branch, but is a number.',
      'spec.repository contains "%"; write an address such as https://git.example.com/acme/shop.git.',
      'spec.message begins line 1 with "Commitlet-" or "Requested-by:", which Commitlet alone writes; leave that line out.',
    ],
  )
})

t.test('a kind that the cluster does not know is a warning', async (t) => {
  const verdict = await judge(referring({ apiVersion: 'example.com/v1', kind: 'Widget' }), outside())
  t.same(verdict.faults, [])
  t.match(verdict.warnings, [/Widget of example\.com\/v1, which the cluster does not know \(yet\)/])
})

t.test('a path that steers the host is a warning', async (t) => {
  const { faults, warnings } = await judge(referring({ path: '.github/workflows/a.yaml' }), outside())
  t.same([faults.length, warnings.length], [0, 1])
})

const CLUSTER_ROLE = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' }
const SCOPES: [Record<string, unknown>, Outside['referenceScope'], string[]][] = [
  [{ namespace: 'shop' }, 'namespace', []],
  [{ namespace: 'other' }, 'namespace', ['ReferenceForbidden spec.resourceRef.namespace']],
  [{ namespace: 'other' }, 'any', []],
  [{ ...CLUSTER_ROLE }, 'namespace', ['ReferenceForbidden spec.resourceRef.kind']],
  [{ ...CLUSTER_ROLE }, 'any', []],
  [{ ...CLUSTER_ROLE, namespace: 'shop' }, 'any', ['InvalidSpec spec.resourceRef.namespace']],
  [
    { ...CLUSTER_ROLE, namespace: 'shop' },
    'namespace',
    ['InvalidSpec spec.resourceRef.namespace', 'ReferenceForbidden spec.resourceRef.kind'],
  ],
  [{ kind: 'Widget', namespace: 'other' }, 'namespace', ['ReferenceForbidden spec.resourceRef.namespace']],
]

t.test('the reference stays within the scope that the operator chose', async (t) => {
  for (const [reference, scope, expected] of SCOPES) {
    const { faults } = await judge(referring(reference), outside({ referenceScope: scope }))
    t.same(
      faults.map(({ reason, field }) => `${reason} ${field}`),
      expected,
      `${JSON.stringify(reference)} ${scope}`,
    )
  }
})

t.test('the cluster is not asked for a kind that is faulty or refused', async (t) => {
  for (const reference of [{ kind: 'Secret' }, { kind: 'Config Map' }, { apiVersion: '../x' }, { kind: 5 }]) {
    const world = outside()
    await judge(referring(reference), world)
    t.same(world.asked, [], JSON.stringify(reference))
  }
})

t.test('a cluster that does not answer decides nothing', async (t) => {
  const silent = (): Promise<never> =>
    Promise.reject(new Failure('Timeout', 'The API server did not answer.'))
  for (const failing of [{ discover: silent }, { review: silent }]) {
    await t.rejects(judge(gitCommit(SPEC), outside(failing)), { name: 'Failure', reason: 'Timeout' })
  }
})

t.test('a pull request has no reference to look at', async (t) => {
  const spec = {
    repository: 'https://github.com/acme/shop.git',
    baseBranch: 'main',
    headBranch: 'new',
    title: 'New settings',
    credentials: { secretName: 'git' },
  }
  const world = outside()
  const resource = {
    apiVersion: 'commitlet.dev/v1',
    kind: 'PullRequest',
    metadata: { namespace: 'shop' },
    spec,
  }
  t.same(await judge(resource, world), {
    faults: [],
    warnings: [],
    served: undefined,
    secretRights: { 'spec.credentials': 'get' },
  })
  t.same(world.asked, [])
  t.same(
    world.reviewed.map(({ resource }) => resource),
    ['secrets'],
  )
})

t.test('anything at all gets a verdict', async (t) => {
  for (const value of [
    undefined,
    null,
    5,
    [],
    {},
    gitCommit(undefined),
    gitCommit([]),
    gitCommit({ resourceRef: 'x' }),
  ]) {
    t.ok((await judge(value, outside())).faults.length > 0)
  }
})

t.test('an attempt fails with the first reason and every sentence', async (t) => {
  const verdict = await judge(gitCommit({ ...SPEC, branch: '-x', credentials: undefined }), outside())
  const failure = failureOf(verdict)
  t.equal(failure?.reason, 'InvalidSpec')
  t.match(failure?.message, /^spec\.branch begins with "-"; .*\. spec\.credentials is missing, .*\.$/)
  t.equal(failureOf({ faults: [] }), undefined)
})

t.test('what is too long is told once, and nothing else is made of it', async (t) => {
  const long = 'x'.repeat(300)
  const cases = [
    { ...SPEC, provider: long, providerConfig: { baseURL: 'https://git.example.com/api/v3' } },
    { ...SPEC, credentials: { secretName: 'git', usernameKey: 'user', passwordKey: long } },
    { ...SPEC, resourceRef: { ...SPEC.resourceRef, namespace: long } },
    { ...SPEC, repository: `https://git.example.com/${'a/'.repeat(1_024)}a` },
  ]
  for (const spec of cases) {
    const { faults } = await judge(gitCommit(spec), outside())
    t.match(faults, [
      { message: /^spec\.[.A-Za-z]+ is longer than the [0-9]+ characters that are allowed\.$/ },
    ])
    t.equal(faults.length, 1)
  }
})

t.test('who may not get the object is told so, with every other fault', async (t) => {
  const world = outside({ review: ({ resource }) => Promise.resolve(resource === 'secrets') })
  const { faults } = await judge(gitCommit({ ...SPEC, branch: '-x' }), world)
  t.same(
    faults.map(({ reason, field }) => `${reason} ${field}`),
    ['InvalidSpec spec.branch', 'ReferenceForbidden spec.resourceRef'],
  )
})

t.test('who has no right at all learns of the object and of the Secret at once', async (t) => {
  const world = outside({ review: () => Promise.resolve(false) })
  const verdict = await judge(gitCommit(SPEC), world)
  t.match(verdict, {
    faults: [
      { reason: 'ReferenceForbidden', field: 'spec.resourceRef' },
      { reason: 'ReferenceForbidden', field: 'spec.credentials.secretName' },
    ],
  })
  t.strictSame(verdict.secretRights, {})
  t.equal(failureOf(verdict)?.reason, 'ReferenceForbidden')
})

t.test('the namespace is the one that the API server says, whatever the object holds', async (t) => {
  const world = outside({ namespace: 'own' })
  await judge(gitCommit(SPEC), world)
  t.same(new Set(world.reviewed.map(({ namespace }) => namespace)), new Set(['own']))
  const { faults } = await judge(referring({ namespace: 'shop' }), outside({ namespace: 'own' }))
  t.match(faults, [{ reason: 'ReferenceForbidden', field: 'spec.resourceRef.namespace' }])
})

const ALLOWED: [string, unknown, string[]][] = [
  ['git.example.com/acme', SPEC.repository, []],
  ['git.example.com/acme-evil', SPEC.repository, ['AddressForbidden spec.repository']],
  ['git.example.com/acme', 'https://git.example.com/other/shop.git', ['AddressForbidden spec.repository']],
  ['git.example.com/acme', 'https://git.example.com/%2e%2e/a', ['InvalidSpec spec.repository']],
  [
    'git.example.com/acme',
    'git@git.example.com:other/shop.git',
    ['NotSupported spec.repository', 'InvalidSpec spec.credentials.tokenKey'],
  ],
  ['git.example.com/acme', `https://git.example.com/${'a/'.repeat(1_024)}a`, ['InvalidSpec spec.repository']],
  ['git.example.com/acme', 5, ['InvalidSpec spec.repository']],
  ['git.example.com/acme', undefined, ['InvalidSpec spec.repository']],
]

t.test('the operator bounds which repositories may be named, where they are sound', async (t) => {
  for (const [allowedRepositories, repository, expected] of ALLOWED) {
    const { faults } = await judge(gitCommit({ ...SPEC, repository }), outside({ allowedRepositories }))
    t.same(
      faults.map(({ reason, field }) => `${reason} ${field}`),
      expected,
      `${allowedRepositories} and ${String(repository).slice(0, 50)}`,
    )
  }
})

t.test('what the operator does not allow is said in one sentence', async (t) => {
  const { faults } = await judge(gitCommit(SPEC), outside({ allowedRepositories: 'github.com' }))
  t.match(faults, [
    {
      message:
        'spec.repository is not one of the repositories that the operator allows (ALLOWED_REPOSITORIES); name another, or ask whoever runs Commitlet.',
    },
  ])
})

t.test('no spec brings about a review of all objects, or says anything twice', async (t) => {
  const word = fc.constantFrom('', 'x', 'other', '*', '..', 5, null)
  const reference = fc.record(
    {
      apiVersion: fc.constantFrom('v1', 'rbac.authorization.k8s.io/v1', 'apps/v1', '', 5),
      kind: fc.constantFrom('ConfigMap', 'ClusterRole', 'Secret', '', null),
      name: word,
      namespace: word,
      path: fc.constantFrom('a.yaml', '', '..'),
    },
    { requiredKeys: [] },
  )
  const credentials = fc.record({ secretName: word, tokenKey: word }, { requiredKeys: [] })
  const spec = fc.record(
    {
      repository: fc.constantFrom(SPEC.repository, 'git@git.example.com:a', 'x', 5),
      message: word,
      credentials,
      fallbackCredentials: credentials,
      resourceRef: reference,
    },
    { requiredKeys: [] },
  )
  const scope = fc.constantFrom('namespace' as const, 'any' as const)
  const namespace = fc.constantFrom('shop', '')
  const property = fc.asyncProperty(spec, scope, namespace, async (written, referenceScope, own) => {
    const world = outside({ referenceScope, namespace: own, allowedRepositories: 'github.com' })
    const { faults } = await judge(gitCommit(written), world)
    const sound = world.reviewed.every(({ resource, namespace: asked, name }) => {
      const placed =
        resource === 'clusterroles' ? asked === undefined : typeof asked === 'string' && asked !== ''
      return name !== '' && placed
    })
    return sound && new Set(faults.map(({ message }) => message)).size === faults.length
  })
  await fc.assert(property, { numRuns: 1_000 })
  t.pass('1,000 specs')
})
