import t from 'tap'
import { judgeReference } from '../../../functions/domain/gate/reference.ts'
import { readable } from '../fixtures/parsed.ts'
import { reviewContext } from '../fixtures/review-context.ts'

const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', path: 'a.yaml' }
const CLUSTER_ROLE = { ...CONFIG_MAP, apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' }
const NOTHING = { fieldErrors: [], warnings: [], served: undefined }
const NONE: ReadonlySet<string> = new Set()
const GET = { verb: 'get', version: 'v1', name: 'settings' }
const OF_CONFIG_MAP = { ...GET, group: '', resource: 'configmaps', namespace: 'shop' }
const OF_CLUSTER_ROLE = {
  ...GET,
  group: 'rbac.authorization.k8s.io',
  resource: 'clusterroles',
  namespace: undefined,
}

for (const [title, resourceRef, access] of [
  ['an object of its own namespace', CONFIG_MAP, OF_CONFIG_MAP],
  ['an object of its own namespace, which is named', { ...CONFIG_MAP, namespace: 'shop' }, OF_CONFIG_MAP],
  [
    'an object of another namespace',
    { ...CONFIG_MAP, namespace: 'other' },
    { ...OF_CONFIG_MAP, namespace: 'other' },
  ],
  ['an object of the cluster, without a namespace', CLUSTER_ROLE, OF_CLUSTER_ROLE],
] as const) {
  t.test(`the right to get is asked for: ${title}`, async (t) => {
    const world = reviewContext({ referenceScope: 'any' })
    const verdict = await judgeReference(resourceRef, NONE, world)
    t.strictSame([verdict.fieldErrors, verdict.warnings], [[], []])
    t.equal(verdict.served?.plural, access.resource)
    t.strictSame(world.reviewed, [access])
  })
}

for (const [title, resourceRef, message] of [
  [
    'an object of a namespace is named with it',
    CONFIG_MAP,
    'spec.resourceRef is the ConfigMap settings in the namespace shop, which developer may not `get`; ask for that right, or refer to another object.',
  ],
  [
    'an object of the cluster is named alone',
    CLUSTER_ROLE,
    'spec.resourceRef is the ClusterRole settings, which developer may not `get`; ask for that right, or refer to another object.',
  ],
] as const) {
  t.test(`a user who may not get it learns so: ${title}`, async (t) => {
    const world = reviewContext({ referenceScope: 'any', review: () => Promise.resolve(false) })
    const { fieldErrors } = await judgeReference(resourceRef, NONE, world)
    t.strictSame(fieldErrors, [{ reason: 'ReferenceForbidden', field: 'spec.resourceRef', message }])
  })
}

t.test('the name in a refusal cannot turn the reading direction or end the line', async (t) => {
  const world = reviewContext({ subject: { username: 'a\nb\u202e' }, review: () => Promise.resolve(false) })
  const { fieldErrors } = await judgeReference(CONFIG_MAP, NONE, world)
  t.match(fieldErrors, [{ message: 'which a?b? may not `get`' }])
})

for (const [title, resourceRef, found, asked] of [
  ['nothing', undefined, [], []],
  ['a list', [CONFIG_MAP], [], []],
  ['no kind', { apiVersion: 'v1', name: 'settings' }, [], []],
  ['an apiVersion that is a number', { ...CONFIG_MAP, apiVersion: 1 }, [], []],
  ['a spec that is invalid as a whole', CONFIG_MAP, ['spec'], []],
  ['a reference that is invalid as a whole', CONFIG_MAP, ['spec.resourceRef'], []],
  ['a kind that is invalid', CONFIG_MAP, ['spec.resourceRef.kind'], []],
  ['an apiVersion that is invalid', CONFIG_MAP, ['spec.resourceRef.apiVersion'], []],
  ['a name that is invalid', CONFIG_MAP, ['spec.resourceRef.name'], ['v1 ConfigMap']],
  ['a namespace that is invalid', CONFIG_MAP, ['spec.resourceRef.namespace'], ['v1 ConfigMap']],
] as const) {
  t.test(`no right is checked for ${title}`, async (t) => {
    const world = reviewContext()
    const { spec } = readable('GitCommit', { resourceRef })
    const written = 'resourceRef' in spec ? spec.resourceRef : undefined
    const verdict = await judgeReference(written, new Set<string>(found), world)
    t.match(verdict, { fieldErrors: [], warnings: [] })
    t.strictSame([world.asked, world.reviewed], [asked, []])
  })
}

t.test('an invalid path has nothing to do with rights', async (t) => {
  const world = reviewContext()
  await judgeReference(CONFIG_MAP, new Set(['spec.resourceRef.path']), world)
  t.strictSame(world.reviewed, [OF_CONFIG_MAP])
})

for (const [title, resourceRef, own] of [
  ['an empty own namespace', CONFIG_MAP, ''],
  ['an empty namespace', { ...CONFIG_MAP, namespace: '' }, 'shop'],
  ['an empty name', { ...CONFIG_MAP, name: '' }, 'shop'],
  ['no name', { apiVersion: 'v1', kind: 'ConfigMap' }, 'shop'],
  ['no name in the cluster', { ...CLUSTER_ROLE, name: '' }, 'shop'],
] as const) {
  t.test(`what cannot be reviewed is refused: ${title}`, async (t) => {
    const world = reviewContext({ namespace: own, referenceScope: 'any' })
    const { fieldErrors } = await judgeReference(resourceRef, NONE, world)
    t.match(fieldErrors, [{ reason: 'ReferenceForbidden', field: 'spec.resourceRef' }])
    t.strictSame(world.reviewed, [])
  })
}

t.test('an object of the cluster is reviewed for a resource in no namespace', async (t) => {
  const world = reviewContext({ namespace: '', referenceScope: 'any' })
  t.strictSame((await judgeReference(CLUSTER_ROLE, NONE, world)).fieldErrors, [])
  t.strictSame(world.reviewed, [OF_CLUSTER_ROLE])
})

t.test('a kind that the cluster does not know is reported, and stays within the scope', async (t) => {
  const widget = { ...CONFIG_MAP, apiVersion: 'example.com/v1', kind: 'Widget' }
  const warnings = [
    'spec.resourceRef.kind is Widget of example.com/v1, which the cluster does not know (yet); Commitlet retries automatically.',
  ]
  t.strictSame(await judgeReference(widget, NONE, reviewContext()), { ...NOTHING, warnings })
  const other = { ...widget, namespace: 'other' }
  t.match(await judgeReference(other, NONE, reviewContext()), {
    fieldErrors: [
      {
        reason: 'ReferenceForbidden',
        message:
          'spec.resourceRef.namespace is "other", but the operator allows only objects of the resource\'s own namespace (REFERENCE_SCOPE); leave it out, or ask your Commitlet operator.',
      },
    ],
  })
  t.strictSame(await judgeReference(other, NONE, reviewContext({ referenceScope: 'any' })), {
    ...NOTHING,
    warnings,
  })
})

t.test('out of scope, no right is checked: an object of the cluster, an object elsewhere', async (t) => {
  const cases = [
    [
      CLUSTER_ROLE,
      "spec.resourceRef.kind is ClusterRole, which is cluster-scoped, but the operator allows only objects of the resource's own namespace (REFERENCE_SCOPE); name another kind, or ask your Commitlet operator.",
    ],
    [
      { ...CONFIG_MAP, namespace: 'other' },
      /^spec\.resourceRef\.namespace is "other", but the operator allows only/,
    ],
  ] as const
  for (const [resourceRef, message] of cases) {
    const world = reviewContext()
    t.match((await judgeReference(resourceRef, NONE, world)).fieldErrors, [
      { reason: 'ReferenceForbidden', message },
    ])
    t.strictSame(world.reviewed, [])
  }
})

t.test('a namespace for an object of the cluster is a field error, and no right is checked', async (t) => {
  const world = reviewContext({ referenceScope: 'any' })
  const { fieldErrors } = await judgeReference({ ...CLUSTER_ROLE, namespace: 'shop' }, NONE, world)
  t.strictSame(fieldErrors, [
    {
      reason: 'InvalidSpec',
      field: 'spec.resourceRef.namespace',
      message:
        'spec.resourceRef.namespace is set, but objects of kind ClusterRole have no namespace; leave it out.',
    },
  ])
  t.strictSame(world.reviewed, [])
})
