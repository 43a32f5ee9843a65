import fc from '../../harness/fast-check.ts'
import t from 'tap'
import { failureOf } from '../../../functions/domain/gate/gate.ts'
import { judge } from '../fixtures/parsed.ts'
import type { ReviewContext } from '../../../functions/domain/gate/review-context.ts'
import { gitCommit, referring, SPEC } from '../fixtures/gitcommit.ts'
import { reviewContext } from '../fixtures/review-context.ts'
import { sized } from '../../harness/sample.ts'

const CLUSTER_ROLE = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' }
const SCOPES: [Record<string, unknown>, ReviewContext['referenceScope'], string[]][] = [
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
    const { fieldErrors } = await judge(referring(reference), reviewContext({ referenceScope: scope }))
    t.same(
      fieldErrors.map(({ reason, field }) => `${reason} ${field}`),
      expected,
      `${JSON.stringify(reference)} ${scope}`,
    )
  }
})

t.test('a user who may not get the object learns so, with every other field error', async (t) => {
  const world = reviewContext({ review: ({ resource }) => Promise.resolve(resource === 'secrets') })
  const { fieldErrors } = await judge(gitCommit({ ...SPEC, branch: '-x' }), world)
  t.same(
    fieldErrors.map(({ reason, field }) => `${reason} ${field}`),
    ['InvalidSpec spec.branch', 'ReferenceForbidden spec.resourceRef'],
  )
})

t.test('of more objects than are allowed no right is reviewed, and of as many each', async (t) => {
  for (const [count, reviewed] of [
    [51, 0],
    [50, 100],
  ] as const) {
    const world = reviewContext()
    const change = (name: string) => ({
      field: '.a',
      valueFrom: { resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name, field: '.data' } },
    })
    const files = Array.from({ length: count }, (_, i) => ({
      path: `${i}.yaml`,
      set: [change(`a${i}`), change(`b${i}`)],
    }))
    const { fieldErrors } = await judge(gitCommit({ ...SPEC, resourceRef: undefined, files }), world)
    t.equal(fieldErrors.length, reviewed === 0 ? 1 : 0)
    t.equal(world.reviewed.filter(({ resource }) => resource === 'configmaps').length, reviewed)
  }
})

t.test('a user without any right learns of the object and of the Secret at once', async (t) => {
  const world = reviewContext({ review: () => Promise.resolve(false) })
  const verdict = await judge(gitCommit(SPEC), world)
  t.match(verdict, {
    fieldErrors: [
      { reason: 'ReferenceForbidden', field: 'spec.resourceRef' },
      { reason: 'ReferenceForbidden', field: 'spec.credentials.secretName' },
    ],
  })
  t.strictSame(verdict.secretRights, {})
  t.equal(failureOf(verdict)?.reason, 'ReferenceForbidden')
})

t.test('the namespace is the one that the API server says, whatever the object holds', async (t) => {
  const world = reviewContext({ namespace: 'own' })
  await judge(gitCommit(SPEC), world)
  t.same(new Set(world.reviewed.map(({ namespace }) => namespace)), new Set(['own']))
  const { fieldErrors } = await judge(referring({ namespace: 'shop' }), reviewContext({ namespace: 'own' }))
  t.match(fieldErrors, [{ reason: 'ReferenceForbidden', field: 'spec.resourceRef.namespace' }])
})

const ALLOWED: [string, unknown, string[]][] = [
  ['git.example.com/acme', SPEC.repository, []],
  ['git.example.com/acme-evil', SPEC.repository, ['AddressForbidden spec.repository']],
  ['git.example.com/acme', 'https://git.example.com/other/shop.git', ['AddressForbidden spec.repository']],
  ['git.example.com/acme', 'https://git.example.com/%2e%2e/a', ['InvalidSpec spec.repository']],
  [
    'git.example.com/acme',
    'git@git.example.com:other/shop.git',
    ['InvalidSpec spec.credentials.tokenKey', 'AddressForbidden spec.repository'],
  ],
  ['git.example.com/acme', `https://git.example.com/${'a/'.repeat(1_024)}a`, ['InvalidSpec spec.repository']],
  ['git.example.com/acme', 5, ['InvalidSpec spec.repository']],
  ['git.example.com/acme', undefined, ['InvalidSpec spec.repository']],
]

t.test('the operator limits which repositories may be named, where they are valid', async (t) => {
  for (const [allowedRepositories, repository, expected] of ALLOWED) {
    const { fieldErrors } = await judge(
      gitCommit({ ...SPEC, repository }),
      reviewContext({ allowedRepositories }),
    )
    t.same(
      fieldErrors.map(({ reason, field }) => `${reason} ${field}`),
      expected,
      `${allowedRepositories} and ${String(repository).slice(0, 50)}`,
    )
  }
})

t.test('what the operator does not allow is reported in one sentence', async (t) => {
  const { fieldErrors } = await judge(gitCommit(SPEC), reviewContext({ allowedRepositories: 'github.com' }))
  t.match(fieldErrors, [
    {
      message:
        'spec.repository is not one of the repositories that the operator allows (ALLOWED_REPOSITORIES); name another, or ask your Commitlet operator.',
    },
  ])
})

t.test('no spec causes a review of all objects, or the same field error twice', async (t) => {
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
    const world = reviewContext({ referenceScope, namespace: own, allowedRepositories: 'github.com' })
    const { fieldErrors } = await judge(gitCommit(written), world)
    const sound = world.reviewed.every(({ resource, namespace: asked, name }) => {
      const placed =
        resource === 'clusterroles' ? asked === undefined : typeof asked === 'string' && asked !== ''
      return name !== '' && placed
    })
    return sound && new Set(fieldErrors.map(({ message }) => message)).size === fieldErrors.length
  })
  await fc.assert(property, { numRuns: sized(60, 1_000) })
  t.pass('1,000 specs')
})
