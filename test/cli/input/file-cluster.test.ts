import t from 'tap'
import { fileCluster } from '../../../cli/input/file-cluster.ts'
import { readObjects } from '../../../cli/input/objects.ts'
import { MISSING } from '../../../functions/domain/resource/waiting.ts'
import { CONFLICT } from '../../../functions/cluster/cluster.ts'
import { memoryCluster } from '../../harness/memory-cluster.ts'

const TEXT = [
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: '1' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'other' } },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'r' } },
  {
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', annotations: { k: 'v' } }, type: 'x/y' },
    data: { a: 'YQ==', b: 'eA==' },
    stringData: { b: 'b' },
  },
  { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'n' } },
]
  .map((object) => JSON.stringify(object))
  .join('\n---\n')
const objects = await readObjects(['-'], () => Promise.resolve(TEXT))
const NAMESPACED = { plural: 'configmaps', namespaced: true }
const ref = (name: string, namespace = 'team') => ({ apiVersion: 'v1', kind: 'ConfigMap', name, namespace })

t.test('objects of files alone', async (t) => {
  const cluster = fileCluster({ objects, namespace: 'team' })
  t.match(JSON.parse(await cluster.readObject(ref('a'), NAMESPACED)), {
    metadata: { namespace: 'team' },
    data: { x: '1' },
  })
  t.match(JSON.parse(await cluster.readObject(ref('a', 'other'), NAMESPACED)), {
    metadata: { namespace: 'other' },
  })
  await t.rejects(cluster.readObject(ref('b'), NAMESPACED), {
    reason: 'ReferenceNotFound',
    message: /in the files/,
  })
  t.same(await cluster.discover('networking.k8s.io/v1', 'NetworkPolicy'), {
    plural: 'networkpolicies',
    namespaced: true,
  })
  t.match(await cluster.discover('rbac.authorization.k8s.io/v1', 'ClusterRole'), { namespaced: false })
  t.equal(await cluster.discover('v1', 'Pod'), undefined)
  const secret = await cluster.readSecret('team', 's')
  t.match(secret, { type: 'x/y', annotations: { k: 'v' } })
  t.same(
    [...secret.data].map(([key, value]) => [key, Buffer.from(value).toString()]),
    [
      ['a', 'a'],
      ['b', 'b'],
    ],
  )
  await t.rejects(cluster.readSecret('team', 'none'), {
    reason: 'ReferenceNotFound',
    message: /Secret team\/none/,
  })
  t.equal(await cluster.readVersion(ref('a'), NAMESPACED), 'file')
  t.equal(await cluster.readVersion(ref('b'), NAMESPACED), MISSING)
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'r', namespace: '' }
  t.equal(
    JSON.parse(await cluster.readObject(role, { plural: 'clusterroles', namespaced: false })).metadata
      .namespace,
    undefined,
  )
  t.ok(cluster.now().getTime() > 0)
})

t.test('nothing is written, and everybody may do everything', async (t) => {
  const cluster = fileCluster({ objects, namespace: 'team' })
  const access = { verb: 'get', group: '', version: 'v1', resource: 'x', namespace: 'y', name: 'z' } as const
  t.equal(await cluster.reviewAccess({ username: 'ada' }, access), true)
  t.equal(await cluster.patchStatus({} as never, {} as never), CONFLICT)
  t.match(await cluster.listPage('GitCommit', {}), { rows: [] })
  t.same(await cluster.listUnsettled('GitCommit'), [])
  await cluster.recordEvent({} as never, {} as never)
  await cluster.flushEvents()
  t.equal(await cluster.readResource({ kind: 'GitCommit', namespace: 'team', name: 'none' }), undefined)
})

t.test('over a cluster: what the files lack is there', async (t) => {
  const under = memoryCluster()
  under.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b', namespace: 'team' } })
  under.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'under', namespace: 'team' } })
  under.mayAccess = () => false
  const cluster = fileCluster({ objects, namespace: 'team', under })
  t.match(JSON.parse(await cluster.readObject(ref('b'), NAMESPACED)), { metadata: { name: 'b' } })
  t.match(await cluster.readSecret('team', 'under'), { name: 'under' })
  t.match(await cluster.discover('v1', 'ConfigMap'), NAMESPACED)
  t.match(await cluster.discover('networking.k8s.io/v1', 'NetworkPolicy'), { namespaced: true })
  t.not(await cluster.readVersion(ref('b'), NAMESPACED), MISSING)
  t.equal(await cluster.readResource({ kind: 'GitCommit', namespace: 'team', name: 'none' }), undefined)
  const access = {
    verb: 'get',
    group: '',
    version: 'v1',
    resource: 'configmaps',
    namespace: 'team',
    name: 'a',
  } as const
  t.equal(await cluster.reviewAccess({ username: 'ada' }, access), false, 'rights are those of the cluster')
})
