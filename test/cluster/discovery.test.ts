import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { AT_ONCE } from '../../functions/cluster/calls/attempt-turns.ts'
import type { ApiServer } from '../../functions/cluster/api-server.ts'
import { discovery, groupPath } from '../../functions/cluster/discovery.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { serveKind } from '../harness/kinds.ts'
import { definition, openAs } from './stage.ts'

t.test('the core group has a path of its own', async (t) => {
  t.equal(groupPath('v1'), '/api/v1')
  t.equal(groupPath('apps/v1'), '/apis/apps/v1')
})

t.test('what is not a group and version is not asked for', async (t) => {
  const server: ApiServer = () => Promise.reject(new Error('nobody shall call'))
  const discover = discovery(server, Date.now)
  for (const wrong of [
    '',
    '/',
    'v1/',
    '../v1',
    'apps/v1/x',
    'a%2fb/v1',
    'Apps/v1',
    '-a/v1',
    'v1?x',
    'v1\n',
  ]) {
    t.equal(await discover(wrong, 'ConfigMap'), undefined, JSON.stringify(wrong))
  }
})

t.test('a kind is served under its first plural; what is not a resource is skipped', async (t) => {
  const resources = [
    { name: 'shelves/status', kind: 'Shelf', namespaced: true },
    { name: 'odds', kind: 'Shelf', namespaced: true, group: 'other.example.com' },
    { name: 'odds', kind: 'Shelf', namespaced: true, version: 'v2' },
    { name: 'shelves', kind: 'Shelf', namespaced: false, group: '' },
    { name: 'shelfs', kind: 'Shelf', namespaced: true },
    { name: 'nameless', namespaced: true },
    { kind: 'Plural', namespaced: true },
    { name: 'unscoped', kind: 'Unscoped' },
    null,
    'text',
  ]
  const server: ApiServer = async () => ({ status: 200, text: JSON.stringify({ resources }) })
  const discover = discovery(server, Date.now)
  t.same(await discover('test.example.com/v1', 'Shelf'), { plural: 'shelves', namespaced: false })
  for (const kind of ['Plural', 'Unscoped', 'undefined', 'constructor'])
    t.equal(await discover('test.example.com/v1', kind), undefined, kind)
})

t.test('calls at once share one answer, and ask again for a kind that it lacks', async (t) => {
  const asked: ((kinds: readonly string[]) => void)[] = []
  const server: ApiServer = () =>
    new Promise((resolve) => {
      asked.push((kinds) => {
        const resources = kinds.map((kind) => ({ kind, name: kind.toLowerCase(), namespaced: true }))
        resolve({ status: 200, text: JSON.stringify({ resources }) })
      })
    })
  const discover = discovery(server, Date.now)
  const settle = (): Promise<void> => setImmediate()
  const many = (kind: string) =>
    Promise.all(Array.from({ length: 10 }, () => discover('test.example.com/v1', kind)))
  const first = many('Shelf')
  await settle()
  const later = many('Book')
  await settle()
  t.equal(asked.length, 1)
  asked[0]?.(['Shelf'])
  for (const served of await first) t.equal(served?.plural, 'shelf')
  await settle()
  t.equal(asked.length, 2, 'the kind may be newer than the first answer')
  asked[1]?.(['Shelf', 'Book'])
  for (const served of await later) t.equal(served?.plural, 'book')
  t.equal(asked.length, 2)
})

t.test('a call to an API that hangs gives its turn to others after two seconds, and goes on', async (t) => {
  const over = Promise.withResolvers<undefined>()
  const answer = Promise.withResolvers<undefined>()
  const asked: string[] = []
  const resources = [{ kind: 'Shelf', name: 'shelves', namespaced: true }]
  const server: ApiServer = async ({ path }) => {
    asked.push(path)
    if (path !== '/api/v1') await answer.promise
    return { status: 200, text: JSON.stringify({ resources }) }
  }
  const discover = discovery(server, Date.now, (milliseconds) => {
    t.equal(milliseconds, 2_000)
    return over.promise
  })
  const by = { namespace: 'team' }
  const hanging = Array.from({ length: AT_ONCE }, (_, i) =>
    discover(`hangs.example.com/v${i + 1}`, 'Shelf', by),
  )
  const other = discover('v1', 'Shelf', by)
  await setImmediate()
  t.equal(asked.length, AT_ONCE)
  over.resolve(undefined)
  t.match(await other, { plural: 'shelves' })
  answer.resolve(undefined)
  for (const one of hanging) t.match(await one, { plural: 'shelves' })
  t.equal(asked.length, AT_ONCE + 1)
})

t.test('a plural that is not a valid resource name is skipped', async (t) => {
  const plurals = [
    '..',
    '.',
    '',
    'things?x',
    'a\\b',
    'a%2fb',
    'Things',
    '-a',
    'a-',
    'a b',
    'a\n',
    'a.b',
    'x'.repeat(64),
  ]
  for (const name of plurals) {
    const resources = [{ name, kind: 'Shelf', namespaced: true }]
    const server: ApiServer = async () => ({ status: 200, text: JSON.stringify({ resources }) })
    t.equal(
      await discovery(server, Date.now)('test.example.com/v1', 'Shelf'),
      undefined,
      JSON.stringify(name),
    )
  }
})

t.test('an answer that is not a list has no kinds; a refusal is thrown', async (t) => {
  const texts = ['{}', '[]', 'null', '{"resources":{}}', '{"resources":null}']
  for (const text of texts) {
    const discover = discovery(async () => ({ status: 200, text }), Date.now)
    t.equal(await discover('v1', 'ConfigMap'), undefined, text)
  }
  const refusing = discovery(async () => ({ status: 503, text: '' }), Date.now)
  await t.rejects(refusing('v1', 'ConfigMap'), {
    reason: 'ProviderUnavailable',
    message: 'The API server answered 503 for API group v1; Commitlet retries automatically.',
  })
})

withControlPlane(t, async (t, plane) => {
  const server = openAs(plane.kubeconfig)
  let calls = 0
  const counting: ApiServer = (call) => {
    calls += 1
    return server(call)
  }

  t.test('plural and scope of built-in kinds', async (t) => {
    const discover = discovery(server, Date.now)
    const table = [
      ['v1', 'ConfigMap', { plural: 'configmaps', namespaced: true }],
      ['v1', 'Endpoints', { plural: 'endpoints', namespaced: true }],
      ['v1', 'Namespace', { plural: 'namespaces', namespaced: false }],
      ['apps/v1', 'Deployment', { plural: 'deployments', namespaced: true }],
      ['networking.k8s.io/v1', 'NetworkPolicy', { plural: 'networkpolicies', namespaced: true }],
      ['rbac.authorization.k8s.io/v1', 'ClusterRole', { plural: 'clusterroles', namespaced: false }],
    ] as const
    for (const [apiVersion, kind, served] of table) t.same(await discover(apiVersion, kind), served, kind)
  })

  t.test('a kind that is served only as a subresource, in another group or nowhere is unknown', async (t) => {
    const discover = discovery(server, Date.now)
    const table = [
      ['apps/v1', 'Scale'],
      ['v1', 'Eviction'],
      ['v1', 'TokenRequest'],
      ['v1', 'Deployment'],
      ['v1', 'configmaps'],
      ['apps/v1beta1', 'Deployment'],
      ['nobody.example.com/v1', 'Thing'],
    ] as const
    for (const [apiVersion, kind] of table) t.equal(await discover(apiVersion, kind), undefined, kind)
  })

  t.test('odd plurals are found, as soon as they are there, and remembered for a minute', async (t) => {
    let now = 1_000
    const discover = discovery(counting, () => now)
    t.equal(await discover('test.example.com/v1', 'Oxshelf'), undefined)
    await serveKind(plane, definition('oxen', 'Oxshelf', 'Namespaced'))
    await serveKind(plane, definition('datas', 'Wide', 'Cluster'))
    const named = (wanted: string): Promise<unknown> => discover('test.example.com/v1', wanted)
    t.same(await named('Oxshelf'), { plural: 'oxen', namespaced: true })
    t.same(await named('Wide'), { plural: 'datas', namespaced: false })
    calls = 0
    now += 60_000
    t.same(await named('Oxshelf'), { plural: 'oxen', namespaced: true })
    t.equal(calls, 0, 'remembered')
    now += 1
    await named('Oxshelf')
    t.equal(calls, 1, 'asked again after the minute')
    await named('Ghost')
    await named('Ghost')
    t.equal(calls, 3, 'an unknown kind is asked for each time')
  })
})
